import { cleanText, type ElicitationField, type ElicitationValue } from '@tapline/core'

const LONGEST_SHOWN = 60
/** Of what a server has filled in, all is shown before it is taken. */
export const LONGEST_DEFAULT = 1_000

/** What servers must not ask for in a form (specification 2025-11-25, client/elicitation). */
const SECRET =
  /pass(?:word|code|phrase|wd)|\b(?:pin|otp|cvv|cvc|ssn|2fa|mfa)\b|secret|credential|token|api[ _-]?key|private[ _-]?key|access[ _-]?key|(?:credit|card)[ _-]?(?:card|number)|(?:seed|recovery)[ _-]?(?:phrase|code)|one[ _-]?time/i

/** Words of a server, marked as such in every line: they cannot pass for Tapline's own. */
export function theirs(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n').map((line) => `  │ ${line}`)
}

/** Whether a form asks for something like a password. */
export function asksForSecret(message: string, fields: readonly ElicitationField[]): boolean {
  const said = fields.flatMap(({ name, title, description = '' }) => [
    name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' '),
    title,
    description,
  ])
  return fields.length > 0 && [message, ...said].some((text) => SECRET.test(text))
}

/** What kind of thing a field is: `a whole number from 1 to 100`. */
export function kindOf(field: ElicitationField): string {
  switch (field.type) {
    case 'boolean':
      return 'yes or no'
    case 'choice':
      return `one of ${field.options.length}`
    case 'choices':
      return `${range(field.minItems, field.maxItems) || 'any'} of ${field.options.length}`
    case 'text':
      return textKind(field)
    default:
      return `a ${field.type === 'integer' ? 'whole number' : 'number'}${spaced(between(field.minimum, field.maximum))}`
  }
}

function textKind({
  format,
  minLength,
  maxLength,
  pattern,
}: Extract<ElicitationField, { type: 'text' }>): string {
  const length = range(minLength || undefined, maxLength)
  return [
    format === undefined ? 'text' : FORMATS[format],
    ...(length === '' ? [] : [`of ${length} characters`]),
    ...(pattern === undefined ? [] : [`that matches /${cleanText(pattern, LONGEST_SHOWN)}/`]),
  ].join(' ')
}

const FORMATS = {
  email: 'an email address',
  uri: 'an address such as https://example.com',
  date: 'a date such as 2026-07-28',
  'date-time': 'a time such as 2026-07-28T14:30:00Z',
} as const

function between(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `from ${least} to ${most}`
  return least === undefined ? (most === undefined ? '' : `up to ${most}`) : `from ${least}`
}

function range(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return least === most ? `${least}` : `${least} to ${most}`
  return least === undefined ? (most === undefined ? '' : `up to ${most}`) : `${least} or more`
}

function spaced(text: string): string {
  return text === '' ? '' : ` ${text}`
}

/** A value as it is shown, in at most so many characters. */
export function valueOf(
  field: ElicitationField,
  value: ElicitationValue | undefined,
  limit = LONGEST_SHOWN,
): string {
  if (value === undefined) return '(left out)'
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  const labels = new Map(
    'options' in field ? field.options.map((option) => [option.value, option.label]) : [],
  )
  const shown = [value].flat().map((one) => labels.get(String(one)) ?? String(one))
  return cleanText(shown.join(', '), limit) || '(nothing)'
}
