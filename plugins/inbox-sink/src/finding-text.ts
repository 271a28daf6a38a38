import type { Trigger } from '@tapline/core'
import { LONGEST_TEXT } from './inbox.ts'
import { cut, oneLine, pointsIn, wholeWords } from './text.ts'

const BETWEEN = ' · '
/** Code points. */
const LEAST_OF_WHAT_CAME = 200
/** By so much of a text its beginning is known again. */
const KNOWN_BY = 20
/** More of a text, in UTF-16 units, cannot end up in what is kept. */
const LONGEST_LOOKED_AT = 8 * LONGEST_TEXT

/**
 * What came, in as many words as the inbox keeps: where the summary shows the beginning of a content, with more of it.
 * Contents are not redacted, so `redact` is needed for that.
 */
export function textOf(
  { summary, method, content }: Pick<Trigger, 'summary' | 'method' | 'content'>,
  redact: ((text: string) => string) | undefined,
): string {
  const short = summary || method
  if (content === undefined || !redact) return short
  const whole = oneLine(redact(wholeWords(content, LONGEST_LOOKED_AT)), LONGEST_TEXT)
  const beginning = cut(whole, KNOWN_BY).replace(/…$/, '')
  const from = beginning === '' ? -1 : short.indexOf(beginning)
  if (from < 0 || short.includes(whole)) return short
  // What was cut ends with an ellipsis, and a note in brackets may follow.
  const [, shown = '', note = ''] = /^(.*)…( \[[^\]]*\])?$/s.exec(short.slice(from)) ?? []
  return shown !== '' && whole.startsWith(shown) ? short.slice(0, from) + whole + note : short
}

/** Both on one line. Where there is no room for both, what came keeps its beginning, and the reason has the rest. */
export function withReason(what: string, why: string): string {
  const [came, because] = [oneLine(what, LONGEST_TEXT), oneLine(why, LONGEST_TEXT)]
  const room = LONGEST_TEXT - pointsIn(BETWEEN)
  const first = cut(came, Math.max(LEAST_OF_WHAT_CAME, room - pointsIn(because)))
  return `${first}${BETWEEN}${cut(because, room - pointsIn(first))}`
}
