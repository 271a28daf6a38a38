import { cleanLines, cleanText, cut } from '../../text.ts'
import type { ElicitationAnswer, ElicitationQuestion, UrlQuestion } from '../../types/index.ts'
import { fieldsOf, UnaskableForm } from './fields.ts'
import { contentProblem, fieldProblem } from './fitting.ts'

const LONGEST_MESSAGE = 2_000
const MOST_LINES = 20
/** What is shown in full. */
const LONGEST_URL = 2_048

/** What a question of a server is asked with, beyond what it says itself. */
export type Waiting = Pick<UrlQuestion, 'waits' | 'done'>

/** The question that the params of `elicitation/create` ask. Throws a sentence that says why they ask none. */
export function questionOf(params: unknown, waiting: Waiting): ElicitationQuestion {
  const { mode = 'form', message, requestedSchema, url } = (params ?? {}) as Readonly<Record<string, unknown>>
  const asked = { message: messageOf(message) }
  try {
    if (mode === 'url') return { mode, ...asked, ...addressOf(url), ...waiting }
    if (mode !== 'form') throw new UnaskableForm('it asks in a way that there is not')
    return { mode, ...asked, fields: fieldsOf(requestedSchema), problem: fieldProblem }
  } catch (thrown) {
    if (!(thrown instanceof UnaskableForm)) throw thrown
    throw new Error(`The question of the server cannot be asked: ${thrown.message}.`, { cause: thrown })
  }
}

/** The answer as the server is sent it. What does not fit the question is no answer to it, and thrown. */
export function fittingAnswer(question: ElicitationQuestion, answer: ElicitationAnswer): ElicitationAnswer {
  if (answer.action !== 'accept') return { action: answer.action }
  if (question.mode === 'url') return { action: 'accept' }
  const { content = {} } = answer
  const problem = contentProblem(question.fields, content)
  if (problem !== undefined) throw new Error(`The answer does not fit the question: ${problem}`)
  return { action: 'accept', content }
}

function messageOf(message: unknown): string {
  if (typeof message !== 'string') return ''
  const bounded = cleanLines(message.slice(0, LONGEST_MESSAGE * 4)).trim()
  const lines = bounded.replaceAll('\t', ' ').split(/\n(?:[ ]*\n)*/)
  const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES - 1), '…'] : lines
  return cut(shown.join('\n'), LONGEST_MESSAGE)
}

/** An address in the letters that it is made of: what looks like another host is seen to be none. */
function addressOf(address: unknown): Pick<UrlQuestion, 'url' | 'host'> {
  const url = typeof address === 'string' ? URL.parse(address) : null
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UnaskableForm('its address does not begin with https:// or http://')
  if (url.username !== '' || url.password !== '') throw new UnaskableForm('its address has a user name in it')
  if (url.href.length > LONGEST_URL)
    throw new UnaskableForm(`its address has more than ${LONGEST_URL} characters, too many to be looked at`)
  if (!/^[!-~]+$/.test(url.href)) throw new UnaskableForm(`its address is ${cleanText(url.href, 100)}`)
  return { url: url.href, host: url.host }
}
