/** The ticks that a schedule has in a span of time. */
export interface Ticks {
  /** Milliseconds since the epoch. */
  readonly first: number
  readonly last: number
  /** How many; from {@link MOST_COUNTED} on there may be more. */
  readonly count: number
}

/** Ticks beyond these are not counted one by one. */
export const MOST_COUNTED = 1_000

/** When a job is due. Times are milliseconds since the epoch. */
export interface Schedule {
  /** Due once, then over. */
  readonly once: boolean
  /** The first tick after that time; undefined when there is none. */
  next(after: number): number | undefined
  /** The ticks after one time and up to another, undefined when there are none. */
  ticks(after: number, until: number): Ticks | undefined
}

/** A schedule that stands at the beginning of a text. */
export interface Taken {
  /** As it was typed, with single blanks. */
  readonly schedule: string
  /** What follows it. */
  readonly rest: string
}

/** A schedule with one tick. */
export function single(at: number): Schedule {
  return {
    once: true,
    next: (after) => (at > after ? at : undefined),
    ticks: (after, until) => (at > after && at <= until ? { first: at, last: at, count: 1 } : undefined),
  }
}

/** A text divided where `pattern`, which begins with `^`, ends. */
export function taken(text: string, pattern: RegExp): Taken | undefined {
  const [found] = pattern.exec(text) ?? []
  if (found === undefined) return undefined
  return { schedule: found.trim().replace(/\s+/g, ' '), rest: text.slice(found.length).trim() }
}
