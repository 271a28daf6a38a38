/* Everything that could steer a terminal or hide text: escape sequences, control and format characters. Half
   characters are replaced too: model providers refuse requests that hold one. */
/* oxlint-disable no-control-regex -- control characters are what this removes. Node's stripVTControlCharacters
   takes quadratic time on hostile text; this is linear. */
const ESCAPES =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g
/* oxlint-enable no-control-regex */
const UNSEEN =
  /[\p{Cc}\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu
const UNSEEN_BUT_LINES =
  /[^\P{Cc}\n\t]|[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/** `text` from outside on one line: no escapes, control or bidi characters, at most `limit` code points. */
export function cleanText(text: string, limit: number): string {
  // Cut first at a generous bound, so that a hostile text costs no more than it shows.
  const bounded = text.length > limit * 8 + 64 ? text.slice(0, limit * 8 + 64) : text
  return cut(
    bounded.toWellFormed().replace(ESCAPES, '').replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim(),
    limit,
  )
}

/** Like {@link cleanText}, but lines and tabs stay. */
export function cleanLines(text: string): string {
  return text.toWellFormed().replace(ESCAPES, '').replace(/\r\n?/g, '\n').replace(UNSEEN_BUT_LINES, '')
}

/** At most `limit` code points; an ellipsis is the last of them when something was cut. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
