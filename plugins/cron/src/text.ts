/* oxlint-disable no-control-regex -- control characters are what this removes. Node's stripVTControlCharacters
   takes quadratic time on hostile text; this is linear. */
const ESCAPES =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g
/* oxlint-enable no-control-regex */

/** A person's words without what could steer a terminal or hide text; lines and tabs stay. */
export function cleanWords(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(ESCAPES, '')
    .replace(/[^\P{Cc}\n\t]|\p{Cf}|[\u2028\u2029]/gu, '')
    .trim()
}

/** The same on one line, at most `limit` characters. */
export function oneLine(text: string, limit: number): string {
  const points = Array.from(cleanWords(text).replace(/\s+/g, ' '))
  return points.length <= limit ? points.join('') : `${points.slice(0, limit - 1).join('')}…`
}

/** A time as people read it, local: `2026-11-30 09:00`, with seconds where there are any. */
export function localTime(time: number): string {
  const date = new Date(time)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const seconds = date.getSeconds() === 0 ? '' : `:${two(date.getSeconds())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}${seconds}`
}
