import type { ElicitationField, ElicitationValue, FormQuestion } from '@tapline/core'
import { theirs } from '../dialogs/marks.ts'
import type { Asked, Reply } from './asking.ts'
import type { Dialogs } from './dialogs.ts'
import { askForChange, askForField, type Filled } from './field.ts'
import { asksForSecret, kindOf, LATER, valueOf } from './words.ts'

const ANSWER = 'Answer'
const ACCEPT = 'Yes, accept'
const DECLINE = 'Decline'
export const NEVER = 'Decline, and hear no more from this server in this session'

/** Fields that the first look names. */
const MOST_NAMED = 5
/** Whoever changes answers more often is no person. */
const MOST_CHANGES = 200

/** Fills in a form with the person, who sees all of it before anything is sent. */
export async function askWithForm(dialogs: Dialogs, asked: Asked<FormQuestion>): Promise<Reply> {
  const { server, question, offersNever } = asked
  const { fields } = question
  // The first one is what a person who was typing takes by mistake: it sends nothing.
  const words = [
    ...(fields.length === 0 ? [LATER, ACCEPT, DECLINE] : [ANSWER, DECLINE, LATER]),
    ...(offersNever ? [NEVER] : []),
  ]
  const place = await dialogs.select(introduction(asked), words)
  const said = place === undefined ? LATER : words[place]
  if (said === NEVER) return { action: 'never' }
  if (said === DECLINE) return { action: 'decline' }
  if (said === ACCEPT) return { action: 'accept', content: {} }
  if (said !== ANSWER) return CANCEL

  const filled = new Map<ElicitationField, Filled>()
  for (const [index, field] of fields.entries()) {
    const answer = await askForField(dialogs, { server, question, index }, field)
    if (!answer) return CANCEL
    filled.set(field, answer)
  }
  return lookOver(dialogs, server, question, filled)
}

/** What is sent is what is shown here. */
async function lookOver(
  dialogs: Dialogs,
  server: string,
  question: FormQuestion,
  filled: Map<ElicitationField, Filled>,
): Promise<Reply> {
  const { fields } = question
  for (let change = 0; change < MOST_CHANGES; change++) {
    const answers = fields.map(
      (field, index) => `${index + 1}. ${field.title}: ${valueOf(field, filled.get(field)?.value)}`,
    )
    const place = await dialogs.select(
      [`Send this to the MCP server "${server}"? Choose an answer to change it.`],
      ['Send', ...answers, DECLINE],
    )
    if (place === undefined) return CANCEL
    if (place === 0) return { action: 'accept', content: contentOf(filled) }
    const field = fields[place - 1]
    if (!field) return { action: 'decline' }
    const now = filled.get(field)?.value
    const answer = await askForChange(dialogs, { server, question, index: place - 1 }, field, now)
    if (answer) filled.set(field, answer)
  }
  return CANCEL
}

function contentOf(
  filled: ReadonlyMap<ElicitationField, Filled>,
): Readonly<Record<string, ElicitationValue>> {
  return Object.fromEntries(
    [...filled].flatMap(([{ name }, { value }]) => (value === undefined ? [] : [[name, value] as const])),
  )
}

/** The server is named at both ends: a long text may leave only one of them on the screen. */
function introduction({ server, question }: Asked<FormQuestion>): readonly string[] {
  const { message, fields } = question
  const named = fields
    .slice(0, fields.length > MOST_NAMED + 1 ? MOST_NAMED : undefined)
    .map(
      (field, index) =>
        `  ${index + 1}. ${field.title} (${kindOf(field)}${field.required ? ', required' : ''})`,
    )
  const more = fields.length - named.length
  return [
    `The MCP server "${server}" asks you:`,
    ...theirs(message),
    ...(fields.length === 0
      ? [`"${server}" wants a yes or a no.`]
      : [
          'It wants to know:',
          ...named,
          ...(more > 0 ? [`  … and ${more} more`] : []),
          `What you answer goes to "${server}", when you have looked it over.`,
        ]),
    ...(asksForSecret(message, fields)
      ? ['! Enter no password, key or code: a server must not ask for one in this way.']
      : []),
  ]
}

const CANCEL = { action: 'cancel' } as const
