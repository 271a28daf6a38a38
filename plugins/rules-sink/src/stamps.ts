/** A time further ahead than this was written by a clock that has been set back since. */
const MOST_AHEAD_MS = 60_000

/** RFC 3339 in local time with its offset, as pi-loops writes times. */
export function stamp(at: number): string {
  const date = new Date(at)
  const ahead = -date.getTimezoneOffset()
  const two = (value: number): string => String(Math.trunc(Math.abs(value))).padStart(2, '0')
  const local = new Date(at + ahead * 60_000).toISOString().slice(0, -1)
  return `${local}${ahead < 0 ? '-' : '+'}${two(ahead / 60)}:${two(ahead % 60)}`
}

/** Milliseconds since the epoch; nothing for what is no time or lies in the future. */
export function pastTime(text: string | undefined, now = Date.now()): number | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return at <= now + MOST_AHEAD_MS ? at : undefined
}

/** `YYYY-MM-DD` in local time. */
export function localDay(at: number): string {
  return stamp(at).slice(0, 10)
}
