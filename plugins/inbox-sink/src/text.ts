/* What could steer a terminal or hide text: escape sequences, control and format characters. */
/* oxlint-disable no-control-regex -- control characters are what this removes. Node's stripVTControlCharacters
   takes quadratic time on hostile text; this is linear. */
const ESCAPES =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g
/* oxlint-enable no-control-regex */
const UNSEEN =
  /[\p{Cc}\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/** `text` on one line of at most `limit` code points, without escape sequences and control characters. */
export function oneLine(text: string, limit: number): string {
  // Cut first at a generous bound, so that a long text costs no more than it shows.
  const bounded = text.slice(0, limit * 8 + 64).toWellFormed()
  return cut(bounded.replace(ESCAPES, '').replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim(), limit)
}

/**
 * What may be looked at of a long text: at most `limit` UTF-16 units, and no word that would be cut. A half secret passes
 * for none.
 */
export function wholeWords(text: string, limit: number): string {
  if (text.length <= limit) return text
  let end = limit
  while (end > 0 && !BETWEEN_WORDS.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

const BETWEEN_WORDS = /[\s"',;]/

/** At most `limit` code points; an ellipsis is the last of them when something was cut. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, Math.max(0, limit - 1)).join('')}…`
}

/** How many code points a text has. */
export function pointsIn(text: string): number {
  return Array.from(text).length
}

/** A point in time as RFC 3339 with the offset of local time. */
export function localTime(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset()
  const two = (number: number): string => String(Math.trunc(Math.abs(number))).padStart(2, '0')
  const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1)
  return `${local}${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}
