import type { DedupVerdict, Trigger } from '@tapline/core'

/** More keys than this are not remembered; the oldest go first. */
const MOST_KEYS = 100_000

/** Remembers keys for a while. */
export interface DedupWindow {
  claim(trigger: Trigger): DedupVerdict
}

/** A window of this process: the first of equal keys is first, later ones are duplicates or come later. */
export function createWindow(windowMs: number, now: () => number = () => performance.now()): DedupWindow {
  return new KeyWindow(windowMs, now)
}

/**
 * Claims stand in columns in arrival order, and the map holds their place: what is remembered for
 * minutes is no object of its own, which is what the collector's time goes to in a burst.
 */
class KeyWindow implements DedupWindow {
  readonly #windowMs: number
  readonly #now: () => number
  readonly #places = new Map<string, number>()
  #keys: string[] = []
  #traceIds: string[] = []
  /** Monotonic, in whole milliseconds, so that a clock that is set does not open or close a window. */
  #times: number[] = []
  /** The place of the first row of the columns. */
  #base = 0
  /** The place of the oldest claim that may still hold. */
  #oldest = 0

  constructor(windowMs: number, now: () => number) {
    this.#windowMs = windowMs
    this.#now = now
  }

  claim({ key, traceId, replacement }: Trigger): DedupVerdict {
    const time = Math.trunc(this.#now())
    this.#forgetOld(time)
    const place = this.#places.get(key)
    if (place === undefined) return new FirstClaim(this, this.#add(key, traceId, time))
    const row = place - this.#base
    if (replacement === 'drop') return { verdict: 'duplicate', of: this.#traceIds[row] as string }
    const left = (this.#times[row] as number) + this.#windowMs - time
    return { verdict: 'later', until: Math.ceil(Date.now() + left) }
  }

  /** Frees the key of a claim that was not delivered, unless it has been claimed anew. */
  free(place: number): void {
    const row = place - this.#base
    if (row < 0) return
    const key = this.#keys[row] as string
    if (this.#places.get(key) === place) this.#places.delete(key)
  }

  #add(key: string, traceId: string, time: number): number {
    const place = this.#base + this.#keys.length
    this.#keys.push(key)
    this.#traceIds.push(traceId)
    this.#times.push(time)
    this.#places.set(key, place)
    while (this.#places.size > MOST_KEYS) this.#forget(this.#oldest)
    return place
  }

  #forgetOld(time: number): void {
    const end = this.#base + this.#keys.length
    while (
      this.#oldest < end &&
      time - (this.#times[this.#oldest - this.#base] as number) >= this.#windowMs
    ) {
      this.#forget(this.#oldest)
    }
  }

  #forget(place: number): void {
    this.free(place)
    this.#oldest = place + 1
    const over = this.#oldest - this.#base
    // Rows that are over are cut off in large pieces: one by one would move the rest each time.
    if (over < 1_024 || over * 2 < this.#keys.length) return
    this.#keys = this.#keys.slice(over)
    this.#traceIds = this.#traceIds.slice(over)
    this.#times = this.#times.slice(over)
    this.#base = this.#oldest
  }
}

/** The verdict for the first of its key. A class, because each event has one and a closure costs twice as much. */
class FirstClaim {
  readonly verdict = 'first'
  readonly #window: KeyWindow
  readonly #place: number

  constructor(window: KeyWindow, place: number) {
    this.#window = window
    this.#place = place
  }

  failed(): void {
    this.#window.free(this.#place)
  }
}
