import type { Files, JsonFile } from '../types/index.ts'
import { type Limit, OwnLimit, type RateLimit } from './limit.ts'

/** More events than this, or shorter periods, would make the file the slowest part: each process counts for itself. */
const MOST_EVENTS = 1_000
const SHORTEST_MS = 60_000

/** What was let through, in all processes of this machine. */
type Passed = Readonly<Record<string, { readonly periodMs: number; readonly times: readonly number[] }>>

/** Counts what the processes of this machine let through together. */
export interface SharedLimits {
  /** A limit that all who say the same `key` share; undefined where each process counts for itself. */
  open(key: string, written: string, limit: Limit): RateLimit | undefined
}

/** The count is kept in the file at `path` (`limits.json`): by key, when in Unix milliseconds events were let through. */
export function sharedLimits(files: Pick<Files, 'json'>, path: string): SharedLimits {
  const file = files.json<Passed>({ path, empty: () => ({}), accepts: isPassed })
  return {
    open: (key, written, limit) =>
      limit.count > MOST_EVENTS || limit.periodMs < SHORTEST_MS || limit.count === 0
        ? undefined
        : new SharedLimit(file, key, written, limit),
  }
}

class SharedLimit implements RateLimit {
  readonly written: string
  readonly #file: JsonFile<Passed>
  readonly #key: string
  readonly #limit: Limit
  /** A clock that is set opens nothing here either. */
  readonly #own: OwnLimit
  /** Until then (monotonic) the others leave no room: a flood is refused without a look at the file. */
  #fullUntil = 0

  constructor(file: JsonFile<Passed>, key: string, written: string, limit: Limit) {
    this.#file = file
    this.#key = key
    this.written = written
    this.#limit = limit
    this.#own = new OwnLimit(written, limit)
  }

  take(answer: (taken: boolean) => void): void {
    if (performance.now() < this.#fullUntil || !this.#own.hasRoom) return answer(false)
    const asked = this.#ask().catch(() => true)
    void asked.then((taken) => {
      if (taken) this.#own.count()
      answer(taken)
    })
  }

  /** A file that cannot be written leaves each process to its own count. */
  async #ask(): Promise<boolean> {
    const { count, periodMs } = this.#limit
    let taken = false
    await this.#file.update((passed) => {
      const now = Date.now()
      const times = (passed[this.#key]?.times ?? [])
        .map((time) => Math.min(time, now))
        .filter((time) => time > now - periodMs)
        .slice(-count)
      taken = times.length < count
      if (!taken) this.#fullUntil = performance.now() + (times[0] as number) + periodMs - now
      return taken || isAhead(passed, now)
        ? { ...current(passed, now), [this.#key]: { periodMs, times: taken ? [...times, now] : times } }
        : passed
    })
    return taken
  }
}

/** Whether anything was written before the clock was set back. */
function isAhead(passed: Passed, now: number): boolean {
  return Object.values(passed).some(({ times }) => times.some((time) => time > now))
}

/** Without what no longer holds anything back; what seems to lie ahead counts from now on. */
function current(passed: Passed, now: number): Passed {
  const sound = Object.entries(passed).map(([key, { periodMs, times }]) => {
    return [key, { periodMs, times: times.map((time) => Math.min(time, now)) }] as const
  })
  return Object.fromEntries(sound.filter(([, { periodMs, times }]) => (times.at(-1) ?? 0) > now - periodMs))
}

function isPassed(content: unknown): content is Passed {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return false
  return Object.values(content).every(
    (one: Partial<Passed[string]> | null) =>
      typeof one?.periodMs === 'number' &&
      Array.isArray(one.times) &&
      one.times.every((time) => typeof time === 'number'),
  )
}
