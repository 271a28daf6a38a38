/* Everything that could steer a terminal or hide text: escape sequences, control and format characters. */
/* oxlint-disable no-control-regex -- control characters are what this removes. Node's stripVTControlCharacters
   takes quadratic time on hostile text; this is linear. */
const ESCAPES =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g
/* oxlint-enable no-control-regex */
const UNSEEN =
  /[^\P{Cc}\n\t]|[\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/** Text of a server without anything that is not seen; lines and tabs stay. */
export function cleanLines(text: string): string {
  return text.toWellFormed().replace(ESCAPES, '').replace(/\r\n?/g, '\n').replace(UNSEEN, '')
}

/** The same on one line, at most `limit` code points, with an ellipsis where something was cut. */
export function cleanLine(text: string, limit: number): string {
  // What is shown is short: a hostile text costs no more than that.
  const looked = text.slice(0, limit * 8 + 64)
  return cut(cleanLines(looked).replace(/\s+/g, ' ').trim(), limit)
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
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}

/** The longest beginning of `text` that takes at most `limit` bytes in UTF-8. */
export function beginning(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text
  const bytes = Buffer.from(text.slice(0, limit))
  if (bytes.length <= limit && text.length <= limit) return text
  let end = Math.min(limit, bytes.length)
  // Not in the middle of a character: its later bytes are 10xxxxxx.
  while (end > 0 && end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end--
  return bytes
    .subarray(0, end)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
}
