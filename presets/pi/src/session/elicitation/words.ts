import { cleanText, type ElicitationField, type ElicitationValue } from '@tapline/core'

/** Leaves a question without an answer. */
export const LATER = 'Not now'
export const LEAVE_OUT = 'Leave it out'
/** What the value is marked with that is taken where nothing is chosen. */
export const DEFAULT = ' (default)'

const LONGEST_SHOWN = 60
const LONGEST_LIST = 300
/** Of what a server has filled in, all is shown before it is taken. */
export const LONGEST_DEFAULT = 1_000

/** What servers must not ask for in a form (specification 2025-11-25, client/elicitation). */
const SECRET =
  /pass(?:wor[dt]|code|phrase|wd)|\b(?:pin|otp|cvv|cvc|ssn|2fa|mfa)\b|secret|credential|token|api[ -]?key|private[ -]?key|access[ -]?key|(?:credit|card)[ -]?(?:card|number)|(?:seed|recovery)[ -]?(?:phrase|code)|one[ -]?time|kennwort|mot de passe|contrase|senha|парол|密[码碼]|パスワード|暗証|비밀번호/i

/** Whether a form asks for something like a password. */
export function asksForSecret(message: string, fields: readonly ElicitationField[]): boolean {
  const said = fields.flatMap(({ name, title, description = '' }) => [name, title, description])
  return fields.length > 0 && [message, ...said].some((text) => SECRET.test(apart(text)))
}

/** The words of a name such as `userPin`, `user_pin` or `PINCode`. */
function apart(text: string): string {
  return text.replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_/g, ' ')
}

/** What the values of a field are shown as: in the server's words, but no two the same, and none as one of our own. */
export function labelsOf({
  options,
}: Extract<ElicitationField, { readonly options: unknown }>): readonly string[] {
  const labels = options.map(({ label }) => label)
  const taken = new Set(labels)
  const shownBefore = new Set<string>()
  return labels.map((label, place) => {
    const isFirst = !shownBefore.has(label)
    shownBefore.add(label)
    if (isFirst && label !== LEAVE_OUT && !label.endsWith(DEFAULT)) return label
    let shown = label
    for (let n = place + 1; taken.has(shown); n++) shown = `${label} (${n})`
    taken.add(shown)
    return shown
  })
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
  limit = 'options' in field ? LONGEST_LIST : LONGEST_SHOWN,
): string {
  if (value === undefined) return '(left out)'
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (!('options' in field)) return cleanText(String(value), limit) || '(nothing)'
  const labels = labelsOf(field)
  const values = [value].flat()
  const all = field.options
    .flatMap((option, place) => (values.includes(option.value) ? [labels[place]] : []))
    .join(', ')
  const shown = cleanText(all, limit) || '(nothing)'
  return shown === all || values.length < 2 ? shown : `${values.length} chosen: ${shown}`
}
