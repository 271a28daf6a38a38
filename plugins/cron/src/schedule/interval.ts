import { type Schedule, single, taken, type Taken } from './schedule.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const BETWEEN = String.raw`\s*(?:and\s+)?`
/** From the largest unit to the smallest: what follows in another order is text. */
const PARTS = ['days?|d', 'hours?|hrs?|h', 'minutes?|mins?|m', 'seconds?|secs?|s'].map(
  (unit) => String.raw`\d+\s*(?:${unit})(?![a-z])`,
)
const SUMS = PARTS.map((part, index) =>
  [part, ...PARTS.slice(index + 1).map((smaller) => `(?:${BETWEEN}${smaller})?`)].join(''),
)
const LENGTH = `(?:${SUMS.join('|')}|second|minute|hour|day)`
const AT_THE_BEGINNING = new RegExp(String.raw`^(?:every|in)\s+${LENGTH}(?=\s|$)`, 'i')
const WHOLE = new RegExp(String.raw`^(every|in)\s+(${LENGTH})$`, 'i')

/** Each tick costs a write under a lock, and most of them a turn. */
const SHORTEST_INTERVAL_MS = 10_000
const LONGEST_MS = 3_660 * 86_400_000

/** `every 30m`, `in 1h30m` or `in 1 hour and 30 minutes` at the beginning of a text. */
export function takeInterval(text: string): Taken | undefined {
  return taken(text, AT_THE_BEGINNING)
}

/**
 * `every <length>` ticks each time that length has passed since `anchor`, `in <length>` once. A length is elapsed time:
 * a day has 24 hours, whatever the clocks do. Throws what is wrong.
 */
export function interval(text: string, anchor: number): Schedule {
  const [, word = '', length] = WHOLE.exec(text) ?? []
  if (length === undefined)
    throw new Error(`"${text}" needs a length after its first word, such as 30s, 10m, 1h30m or 2d.`)
  const ms = lengthOf(length)
  if (ms > LONGEST_MS) throw new Error(`"${text}" is longer than ten years.`)
  if (word.toLowerCase() === 'in') {
    if (ms < 1) throw new Error(`"${text}" is no time at all.`)
    return single(anchor + ms)
  }
  if (ms < SHORTEST_INTERVAL_MS)
    throw new Error(`"${text}" is too often: at least ${SHORTEST_INTERVAL_MS / 1_000} seconds apart.`)
  return repeating(ms, anchor)
}

function repeating(ms: number, anchor: number): Schedule {
  const next = (after: number): number => anchor + Math.max(1, Math.floor((after - anchor) / ms) + 1) * ms
  return {
    once: false,
    next,
    ticks: (after, until) => {
      const first = next(after)
      if (first > until) return undefined
      const further = Math.floor((until - first) / ms)
      return { first, last: first + further * ms, count: further + 1 }
    },
  }
}

function lengthOf(length: string): number {
  const parts = [...length.matchAll(/(\d*)\s*([a-z]+)/gi)]
  return parts.reduce(
    (sum, [, count = '', unit = '']) => sum + Number(count || 1) * (UNITS[unit.charAt(0).toLowerCase()] ?? 0),
    0,
  )
}
