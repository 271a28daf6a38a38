import { stripVTControlCharacters } from 'node:util'
/* Everything that could steer a terminal or hide text: escape sequences, control and format characters. Half
   characters are replaced too: model providers refuse requests that hold one. */
const UNSEEN =
  /[\p{Cc}\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu
const UNSEEN_BUT_LINES =
  /[^\P{Cc}\n\t]|[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/** `text` from outside on one line: no escapes, control or bidi characters, at most `limit` code points. */
export function cleanText(text: string, limit: number): string {
  // Cut first at a generous bound, so that a hostile text costs no more than it shows.
  const bounded = text.length > limit * 8 + 64 ? text.slice(0, limit * 8 + 64) : text
  return cut(
    stripVTControlCharacters(bounded.toWellFormed()).replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim(),
    limit,
  )
}

/** Like {@link cleanText}, but lines and tabs stay. */
export function cleanLines(text: string): string {
  return stripVTControlCharacters(text.toWellFormed()).replace(/\r\n?/g, '\n').replace(UNSEEN_BUT_LINES, '')
}

/** At most `limit` code points; an ellipsis is the last of them when something was cut. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
