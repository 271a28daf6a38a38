/** How many events a rule lets through in how long. */
export interface Limit {
  readonly count: number
  readonly periodMs: number
}

const PERIODS: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
}
const WRITTEN = /^\s*(\d{1,6})\s*\/\s*(second|minute|hour|day)s?\s*$/i

/**
 * A server that runs wild costs no more tokens than this, and puts no more into the chat (which pi keeps whole, and
 * slows down with), unless somebody said otherwise.
 */
const USUAL: ReadonlyMap<string, string> = new Map([
  ['run', '60/hour'],
  ['rules', '60/hour'],
  ['summary', '600/hour'],
])

/** What `<number>/<second|minute|hour|day>` says; undefined for anything else, `none` too. */
export function parseLimit(written: string): Limit | undefined {
  const [, count, period] = WRITTEN.exec(written) ?? []
  if (count === undefined || period === undefined) return undefined
  return { count: Number(count), periodMs: PERIODS[period.toLowerCase()] as number }
}

/** Whether this is a limit, or says that there is none. */
export function isLimit(written: string): boolean {
  return written.trim().toLowerCase() === 'none' || parseLimit(written) !== undefined
}

/** The limit that holds for a policy of which nothing is said. */
export function usualLimit(policy: string): string | undefined {
  return USUAL.get(policy)
}

/** Says of one event after the other whether it is let through. */
export interface RateLimit {
  /** As the configuration has it. */
  readonly written: string
  /** At once, or when others have been asked; one event at a time. */
  take(answer: (taken: boolean) => void): void
}

/**
 * Lets `count` events of this process through in any `periodMs`. The clock is monotonic: one that is set opens
 * nothing.
 */
export class OwnLimit implements RateLimit {
  readonly written: string
  readonly #limit: Limit
  readonly #now: () => number
  /** When the last `count` events were let through, as a ring. */
  readonly #times: number[] = []
  #next = 0

  constructor(written: string, limit: Limit, now: () => number = () => performance.now()) {
    this.written = written
    this.#limit = limit
    this.#now = now
  }

  take(answer: (taken: boolean) => void): void {
    const room = this.hasRoom
    if (room) this.count()
    answer(room)
  }

  get hasRoom(): boolean {
    const oldest = this.#times[this.#next]
    return (
      this.#times.length < this.#limit.count ||
      (oldest !== undefined && this.#now() - oldest >= this.#limit.periodMs)
    )
  }

  /** One more was let through. */
  count(): void {
    if (this.#times.length < this.#limit.count) {
      this.#times.push(this.#now())
    } else {
      this.#times[this.#next] = this.#now()
      this.#next = (this.#next + 1) % this.#limit.count
    }
  }
}
