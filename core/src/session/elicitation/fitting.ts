import { runInNewContext } from 'node:vm'
import { cleanText, cut } from '../../text.ts'
import type {
  ChoicesField,
  ElicitationField,
  ElicitationValue,
  NumberField,
  TextField,
} from '../../types/index.ts'

/** Nobody types more into one field. */
const LONGEST_TEXT = 16_384
/** Expressions are the server's, and some take longer than the universe. */
const PATTERN_MS = 100
const LONGEST_QUOTE = 60

/** An address as forms of the web have it (HTML, "valid email address"), and none of theirs without a dot. */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)+$/i
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
/** RFC 3339. */
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** What is wrong with a value of a field, in words; undefined when it fits. Foreign values are none that fits. */
export function fieldProblem(field: ElicitationField, value: unknown): string | undefined {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'Say yes or no.'
    case 'number':
    case 'integer':
      return numberProblem(field, value)
    case 'choice':
      return field.options.some((option) => option.value === value) ? undefined : 'Choose one of the values.'
    case 'choices':
      return choicesProblem(field, value)
    default:
      return textProblem(field, value)
  }
}

/** What is wrong with the whole content of an answer; undefined when it fits. */
export function contentProblem(
  fields: readonly ElicitationField[],
  content: Readonly<Record<string, ElicitationValue>>,
): string | undefined {
  const known = new Map(fields.map((field) => [field.name, field]))
  for (const [name, value] of Object.entries(content)) {
    const field = known.get(name)
    const problem = field ? fieldProblem(field, value) : 'It was not asked for.'
    if (problem !== undefined) return `${field?.title ?? name}: ${problem}`
  }
  const missing = fields.find(({ name, required }) => required && !Object.hasOwn(content, name))
  return missing && `${missing.title}: It is required.`
}

function numberProblem({ type, minimum, maximum }: NumberField, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'That is no number.'
  if (type === 'integer' && !Number.isInteger(value)) return 'That is no whole number.'
  if (minimum !== undefined && value < minimum) return `It must be ${minimum} or more.`
  if (maximum !== undefined && value > maximum) return `It must be ${maximum} or less.`
  return undefined
}

function choicesProblem({ options, minItems, maxItems }: ChoicesField, value: unknown): string | undefined {
  if (!Array.isArray(value) || !value.every((item) => options.some((option) => option.value === item)))
    return 'Choose some of the values.'
  if (minItems !== undefined && value.length < minItems) return `Choose ${minItems} or more.`
  if (maxItems !== undefined && value.length > maxItems) return `Choose ${maxItems} or fewer.`
  return undefined
}

function textProblem(field: TextField, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'That is no text.'
  if (value.length > LONGEST_TEXT) return `It must have at most ${LONGEST_TEXT} characters.`
  const length = Array.from(value).length
  const { minLength, maxLength, format, pattern } = field
  if (minLength !== undefined && length < minLength) return `It must have at least ${minLength} characters.`
  if (maxLength !== undefined && length > maxLength) return `It must have at most ${maxLength} characters.`
  if (format !== undefined && !FORMATS[format].fits(value))
    return `"${cut(value, LONGEST_QUOTE)}" is no ${FORMATS[format].name}.`
  return pattern === undefined ? undefined : patternProblem(pattern, value)
}

const FORMATS: Readonly<
  Record<NonNullable<TextField['format']>, { readonly name: string; fits(value: string): boolean }>
> = {
  email: { name: 'email address', fits: (value) => EMAIL.test(value) },
  uri: { name: 'address such as https://example.com', fits: isUri },
  date: { name: 'date such as 2026-07-28', fits: isDate },
  'date-time': { name: 'time such as 2026-07-28T14:30:00Z', fits: isDateTime },
}

function isUri(value: string): boolean {
  return URL.canParse(value) && /^[a-z][a-z\d+.-]*:[!-~]+$/i.test(value)
}

function isDate(value: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(value) ?? []
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)))
  // The year 2000 had a 29th of February.
  date.setUTCFullYear(Number(year))
  return year !== '' && date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day)
}

function isDateTime(value: string): boolean {
  const [date = '', time = '', ...more] = value.split(/t|\s/i)
  return more.length === 0 && isDate(date) && TIME.test(time)
}

/** The flags with which a text is a regular expression; undefined where it is none. */
export function patternFlags(pattern: string): string | undefined {
  return ['u', ''].find((flags) => {
    try {
      return new RegExp(pattern, flags) instanceof RegExp
    } catch {
      return false
    }
  })
}

function patternProblem(pattern: string, value: string): string | undefined {
  const shown = `/${cleanText(pattern, LONGEST_QUOTE)}/`
  try {
    const fits: unknown = runInNewContext(
      'new RegExp(pattern, flags).test(value)',
      { pattern, flags: patternFlags(pattern), value },
      { timeout: PATTERN_MS },
    )
    return fits === true ? undefined : `It must match ${shown}.`
  } catch {
    return `Whether it matches ${shown} cannot be said in time.`
  }
}
