import type { ElicitationField, ElicitationValue, FormQuestion } from '@tapline/core'
import { theirs } from '../dialogs/marks.ts'
import type { Dialogs } from './dialogs.ts'
import { toggle } from './ticking.ts'
import { DEFAULT, kindOf, labelsOf, LEAVE_OUT, LONGEST_DEFAULT, valueOf } from './words.ts'

/** Whoever answers wrong so often is no person, or wants to do something else. */
const MOST_ATTEMPTS = 10
/** And so many values nobody turns on and off. */
const MOST_TURNS = 500
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/** What came of a field: left out where `value` is undefined. */
export interface Filled {
  readonly value: ElicitationValue | undefined
}

/** Where a field stands in its form. */
export interface Place {
  readonly server: string
  readonly question: FormQuestion
  readonly index: number
}

/** Asks for one field. Undefined: the person has left. `now` is what was answered before. */
export async function askForField(
  dialogs: Dialogs,
  place: Place,
  field: ElicitationField,
  now: ElicitationValue | undefined = field.default,
): Promise<Filled | undefined> {
  let problem: string | undefined
  let before = now
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const lines = linesOf(place, field, problem)
    const filled = await ASK[field.type](dialogs, lines, field as never, before as never)
    if (!filled) return undefined
    problem = filled.problem ?? problemOf(place.question, field, filled)
    if (problem === undefined) return filled
    // What was ticked stays so; what was typed is typed anew.
    if (field.type === 'choices') before = filled.value
  }
  return undefined
}

/** Asks for another answer; what need not be answered may be left out. Undefined: it stays as it is. */
export async function askForChange(
  dialogs: Dialogs,
  place: Place,
  field: ElicitationField,
  now: ElicitationValue | undefined,
): Promise<Filled | undefined> {
  const isTyped = field.type === 'text' || field.type === 'number' || field.type === 'integer'
  // Nothing typed stands for what is there.
  if (isTyped && !field.required && now !== undefined) {
    const chosen = await dialogs.select(linesOf(place, field, undefined), ['Enter something else', LEAVE_OUT])
    if (chosen !== 0) return chosen === undefined ? undefined : { value: undefined }
  }
  return askForField(dialogs, place, field, now)
}

interface Attempt extends Filled {
  /** What was entered is nothing that could be checked. */
  readonly problem?: string
}

type Kind<Type extends ElicitationField['type']> = Extract<ElicitationField, { readonly type: Type }>
type Ask<Field extends ElicitationField> = (
  dialogs: Dialogs,
  lines: readonly string[],
  field: Field,
  now: Field['default'],
) => Promise<Attempt | undefined>

const ASK: { readonly [Type in ElicitationField['type']]: Ask<Kind<Type>> } = {
  text: async (dialogs, lines, field, now) => {
    const text = await typed(dialogs, lines, field, now)
    if (text === undefined || text === '') return text === undefined ? undefined : { value: now }
    return { value: field.format === undefined ? text : text.trim() }
  },
  number: askForNumber,
  integer: askForNumber,
  boolean: async (dialogs, lines, field, now) => {
    const values = now === false ? [false, true] : [true, false]
    return chosen(
      dialogs,
      lines,
      field,
      values.map((value) => [value, valueOf(field, value)] as const),
      now,
    )
  },
  choice: async (dialogs, lines, field, now) => {
    const labels = labelsOf(field)
    const values = field.options.map(({ value }, place) => [value, labels[place] ?? ''] as const)
    // The one that Enter takes comes first.
    const ordered = values.toSorted(([one], [other]) => Number(other === now) - Number(one === now))
    return chosen(dialogs, lines, field, ordered, now)
  },
  choices: async (dialogs, lines, field, now = []) => {
    const values = field.options.map(({ value }) => value)
    const before = new Set(now.map((value) => values.indexOf(value)))
    const more = field.required ? lines : [...lines, 'With none chosen it is left out.']
    const ticked = await (dialogs.tick ?? tickOneByOne(dialogs))(more, labelsOf(field), before)
    // In the order of the server's list.
    const chosen = ticked && values.filter((_value, place) => ticked.has(place))
    if (chosen?.length === 0 && !field.required) return { value: undefined }
    return chosen && { value: chosen }
  },
}

/** The same with a dialog for each. */
function tickOneByOne(dialogs: Dialogs): NonNullable<Dialogs['tick']> {
  return async (lines, labels, before) => {
    const on = new Set(before)
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const options = labels.map((label, place) => `[${on.has(place) ? 'x' : ' '}] ${label}`)
      const place = await dialogs.select(lines, [`Done: ${on.size} chosen`, ...options])
      if (place === undefined) return undefined
      if (place === 0) return on
      toggle(on, place - 1)
    }
    return undefined
  }
}

async function askForNumber(
  dialogs: Dialogs,
  lines: readonly string[],
  field: Kind<'number' | 'integer'>,
  now: number | undefined,
): Promise<Attempt | undefined> {
  const text = (await typed(dialogs, lines, field, now))?.trim()
  if (text === undefined || text === '') return text === undefined ? undefined : { value: now }
  return NUMBER.test(text) ? { value: Number(text) } : { value: undefined, problem: 'That is no number.' }
}

function typed(
  dialogs: Dialogs,
  lines: readonly string[],
  field: Kind<'text' | 'number' | 'integer'>,
  now: ElicitationValue | undefined,
): Promise<string | undefined> {
  const shown = now === undefined ? undefined : valueOf(field, now, LONGEST_DEFAULT)
  const empty = field.required ? [] : ['Enter without text leaves it out.']
  const hint = shown === undefined ? empty : ['Enter without text takes:', ...theirs(shown)]
  return dialogs.input([...lines, ...hint], shown ?? '')
}

async function chosen<Value extends ElicitationValue>(
  dialogs: Dialogs,
  lines: readonly string[],
  field: ElicitationField,
  values: readonly (readonly [value: Value, label: string])[],
  now: Value | undefined,
): Promise<Filled | undefined> {
  const options = values.map(([value, label]) =>
    value === now && value === field.default ? label + DEFAULT : label,
  )
  const place = await dialogs.select(lines, field.required ? options : [...options, LEAVE_OUT])
  return place === undefined ? undefined : { value: values[place]?.[0] }
}

function problemOf(question: FormQuestion, field: ElicitationField, { value }: Filled): string | undefined {
  if (value === undefined) return field.required ? 'It is required.' : undefined
  return question.problem(field, value)
}

function linesOf(
  { server, question, index }: Place,
  field: ElicitationField,
  problem: string | undefined,
): readonly string[] {
  const kind = kindOf(field)
  return [
    ...(problem === undefined ? [] : [`! ${problem}`]),
    `The MCP server "${server}" asks, ${index + 1} of ${question.fields.length}:`,
    ...theirs([field.title, field.description ?? ''].filter(Boolean).join('\n')),
    `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}, ${field.required ? 'required' : 'optional'}.`,
  ]
}
