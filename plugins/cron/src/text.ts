import { stripVTControlCharacters } from 'node:util'

/** A person's words without what could steer a terminal or hide text; lines and tabs stay. */
export function cleanWords(text: string): string {
  return stripVTControlCharacters(text.toWellFormed().replace(/\r\n?/g, '\n'))
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
