const ESCAPES =
  // oxlint-disable-next-line no-control-regex -- escape sequences are what this removes
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g
const UNSEEN =
  /[\p{Cc}\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu
const UNSEEN_BUT_LINES =
  /[^\P{Cc}\n\t]|[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/
const PLAIN_LINES = /^[ -~\n\t]*$/

/** Text of a server on one line: no escapes, control or bidi characters, at most `limit` code points. */
export function cleanLine(text: string, limit: number): string {
  if (text.length <= limit && PLAIN_LINE.test(text)) return text
  const seen = bounded(text, limit).toWellFormed().replace(ESCAPES, '').replace(UNSEEN, ' ')
  return cut(seen.replace(/\s+/g, ' ').trim(), limit)
}

/** Like {@link cleanLine}, but lines and tabs stay. */
export function cleanLines(text: string, limit: number): string {
  const looked = bounded(text, limit)
  if (PLAIN_LINES.test(looked)) return cut(looked.trim(), limit)
  const seen = looked
    .toWellFormed()
    .replace(ESCAPES, '')
    .replace(/\r\n?/g, '\n')
    .replace(UNSEEN_BUT_LINES, '')
  return cut(seen.trim(), limit)
}

/** A hostile text costs no more than it can show. */
function bounded(text: string, limit: number): string {
  return text.length > limit * 8 + 64 ? text.slice(0, limit * 8 + 64) : text
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
