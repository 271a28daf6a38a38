import type { DedupVerdict, Trigger } from '@tapline/core'

/** More keys than this are not remembered; the oldest go first. */
const MOST_KEYS = 100_000

interface Claim {
  /** Monotonic, so that a clock that is set does not open or close a window. */
  readonly at: number
  readonly traceId: string
}

/** Remembers keys for a while. */
export interface DedupWindow {
  claim(trigger: Trigger): DedupVerdict
}

/** A window of this process: the first of equal keys is first, later ones are duplicates or come later. */
export function createWindow(windowMs: number, now: () => number = () => performance.now()): DedupWindow {
  // Insertion order is arrival order, so what is over is always at the front.
  const claims = new Map<string, Claim>()
  let nextEnd = Infinity

  const forgetOld = (time: number): void => {
    nextEnd = Infinity
    for (const [key, { at }] of claims) {
      if (time - at < windowMs && claims.size <= MOST_KEYS) {
        nextEnd = at + windowMs
        return
      }
      claims.delete(key)
    }
  }

  return {
    claim: ({ key, traceId, replacement }) => {
      // Whole milliseconds are small integers, which cost nothing to keep.
      const time = Math.trunc(now())
      // Looking at the oldest costs an iterator: only when it may be over.
      if (time >= nextEnd || claims.size > MOST_KEYS) forgetOld(time)
      const earlier = claims.get(key)
      if (earlier) {
        return replacement === 'drop'
          ? { verdict: 'duplicate', of: earlier.traceId }
          : { verdict: 'later', until: Math.ceil(Date.now() + (earlier.at + windowMs - time)) }
      }
      const claim = { at: time, traceId }
      claims.set(key, claim)
      if (claims.size === 1) nextEnd = time + windowMs
      return new FirstClaim(claims, key, claim)
    },
  }
}

/** The verdict for the first of its key. A class, because each event has one and a closure costs twice as much. */
class FirstClaim {
  readonly verdict = 'first'
  readonly #claims: Map<string, Claim>
  readonly #key: string
  readonly #claim: Claim

  constructor(claims: Map<string, Claim>, key: string, claim: Claim) {
    this.#claims = claims
    this.#key = key
    this.#claim = claim
  }

  failed(): void {
    if (this.#claims.get(this.#key) === this.#claim) this.#claims.delete(this.#key)
  }
}
