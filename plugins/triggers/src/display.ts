import { mayHoldSecret, redact } from './redaction.ts'

const LONGEST_TEXT = 200
const LONGEST_METHOD = 100
/** Nothing beyond this can be shown, so nothing beyond it is looked at. */
const LONGEST_LOOKED_AT = 4_096

const PLAIN = /^[ -~]*$/
/** Printable words with one blank between them: most text is like this. */
const NOTHING_TO_CLEAN = /^[!-~]+(?: [!-~]+)*$/
/* oxlint-disable no-control-regex -- control characters are what this removes. Node's stripVTControlCharacters
   takes quadratic time on hostile text; this is linear. */
const ESCAPES =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g
/* oxlint-enable no-control-regex */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Text of a server as it may be shown: cleaned, redacted, then cut to 200 characters. */
export function display(text: string): string {
  if (text.length <= LONGEST_TEXT && NOTHING_TO_CLEAN.test(text) && !mayHoldSecret(text)) return text
  const looked = text.length > LONGEST_LOOKED_AT ? text.slice(0, LONGEST_LOOKED_AT) : text
  // Redaction comes before the cut (half a key is still half a key) and sees lines as they were.
  return cut(clean(redact(clean(looked, '\n'))), LONGEST_TEXT)
}

/** A method name as it may be shown. */
export function displayMethod(method: string): string {
  if (method.length <= LONGEST_METHOD && PLAIN.test(method) && !mayHoldSecret(method)) return method
  return cut(clean(redact(clean(method.slice(0, LONGEST_METHOD * 8)))), LONGEST_METHOD)
}

function clean(text: string, keep = ''): string {
  if (PLAIN.test(text))
    return text.includes('  ') || text !== text.trim() ? text.replace(/ +/g, ' ').trim() : text
  const seen = text.toWellFormed().replace(ESCAPES, '')
  return seen
    .replace(UNSEEN, (char) =>
      char === keep ? char : char === '\n' || char === '\t' || char === '\r' ? ' ' : '',
    )
    .replace(keep === '' ? /\s+/g : /[^\S\n]+/g, ' ')
    .trim()
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const points = Array.from(text)
  return points.length <= limit ? text : `${points.slice(0, limit - 1).join('')}…`
}
