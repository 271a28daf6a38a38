const ESCAPES =
  // oxlint-disable-next-line no-control-regex -- escape sequences are what this removes
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g
const UNSEEN =
  /[\p{Cc}\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu
const UNSEEN_BUT_LINES =
  /[^\P{Cc}\n\t]|[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/** Text of a server on one line: no escapes, control or bidi characters, at most `limit` code points. */
export function cleanLine(text: string, limit: number): string {
  // A hostile text costs no more than it can show.
  const bounded = text.length > limit * 8 + 64 ? text.slice(0, limit * 8 + 64) : text
  const seen = bounded.toWellFormed().replace(ESCAPES, '').replace(UNSEEN, ' ')
  return cut(seen.replace(/\s+/g, ' ').trim(), limit)
}

/** Like {@link cleanLine}, but lines and tabs stay, and nothing is cut. */
export function cleanLines(text: string): string {
  return text.toWellFormed().replace(ESCAPES, '').replace(/\r\n?/g, '\n').replace(UNSEEN_BUT_LINES, '')
}

/** Whether a text can stand in one line as it is. */
export function isPlain(text: string): boolean {
  return text.isWellFormed() && text.search(UNSEEN) === -1
}

/** At most `limit` code points; an ellipsis is the last of them when something was cut. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
