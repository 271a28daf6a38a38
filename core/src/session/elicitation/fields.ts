import { cleanText } from '../../text.ts'
import type { ElicitationField, ElicitationOption, TextField } from '../../types/index.ts'
import { fieldProblem, patternFlags } from './fitting.ts'

const LONGEST_TITLE = 100
const LONGEST_DESCRIPTION = 500
const LONGEST_NAME = 256
const LONGEST_VALUE = 1_000
const LONGEST_PATTERN = 500
/** A form that nobody would fill in. */
const MOST_FIELDS = 32
/** As many as there are countries, languages or time zones. */
const MOST_OPTIONS = 1_000

type Schema = Readonly<Record<string, unknown>>

/** Why a form cannot be shown, in words for the server and its user. */
export class UnaskableForm extends Error {}

/** The fields of a form's schema, as a person is asked for them. Throws {@link UnaskableForm}. */
export function fieldsOf(schema: unknown): readonly ElicitationField[] {
  if (!isSchema(schema) || !isSchema(schema['properties'])) throw new UnaskableForm('its form has no fields')
  const entries = Object.entries(schema['properties'])
  if (entries.length > MOST_FIELDS) throw new UnaskableForm(`its form has more than ${MOST_FIELDS} fields`)
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const missing = required.find((name) => !entries.some(([known]) => known === name))
  if (missing !== undefined) throw new UnaskableForm('its form requires a field that it does not describe')
  return entries.map(([name, property]) => fieldOf(name, property, required.includes(name)))
}

function fieldOf(name: string, property: unknown, required: boolean): ElicitationField {
  if (name.length > LONGEST_NAME || name === '__proto__' || !isSchema(property)) throw unclear(name)
  const schema = withoutNull(property)
  const description = textIn(schema, 'description', LONGEST_DESCRIPTION)
  const field = typed(name, schema, {
    name,
    title:
      textIn(schema, 'title', LONGEST_TITLE) ??
      (cleanText(name, LONGEST_TITLE) || '(a field without a name)'),
    required,
    ...(description === undefined ? {} : { description }),
  })
  const fallback = schema['default']
  // A default that the form itself would refuse is none, nor is one too long to be shown. Whether it has the pattern is seen when it is taken: of many
  // patterns each may take long.
  const { pattern: _later, ...unpatterned } = field as TextField
  const isLong = typeof fallback === 'string' && fallback.length > LONGEST_VALUE
  const fits = !isLong && fieldProblem(unpatterned, fallback) === undefined
  return fits ? ({ ...field, default: fallback } as ElicitationField) : field
}

/** Generators of schemas give what need not be there two types, of which the other one is null. */
function withoutNull(schema: Schema): Schema {
  const { type, anyOf, oneOf, ...rest } = schema
  const all = Array.isArray(type) ? type.map((one: unknown) => ({ type: one })) : (anyOf ?? oneOf)
  if (!Array.isArray(all) || all.length !== 2) return schema
  const [one, ...others] = all.filter(
    (part: unknown) => isSchema(part) && part['type'] !== 'null',
  ) as Schema[]
  return one && others.length === 0 ? { ...one, ...rest } : schema
}

type Common = Pick<ElicitationField, 'name' | 'title' | 'description' | 'required'>

function typed(name: string, schema: Schema, common: Common): ElicitationField {
  switch (schema['type']) {
    case 'boolean':
      return { ...common, type: 'boolean' }
    case 'number':
    case 'integer':
      return { ...common, type: schema['type'], ...limits(schema, 'minimum', 'maximum') }
    case 'array': {
      const items = isSchema(schema['items']) ? schema['items'] : {}
      const options = optionsOf(name, items, items['anyOf'] ?? items['oneOf'])
      if (!options) throw unclear(name)
      return { ...common, type: 'choices', options, ...limits(schema, 'minItems', 'maxItems') }
    }
    case 'string': {
      const options = optionsOf(name, schema, schema['oneOf'])
      if (options) return { ...common, type: 'choice', options }
      return {
        ...common,
        type: 'text',
        ...limits(schema, 'minLength', 'maxLength'),
        ...shapeOf(name, schema),
      }
    }
    default:
      throw unclear(name)
  }
}

/** Values of an enumeration: bare, with `enumNames` beside them, or each with a title of its own. */
function optionsOf(name: string, schema: Schema, titled: unknown): readonly ElicitationOption[] | undefined {
  const { enum: bare, enumNames: names } = schema
  const found = Array.isArray(titled)
    ? titled.map((option: unknown) => (isSchema(option) ? [option['const'], option['title']] : []))
    : Array.isArray(bare)
      ? bare.map((value: unknown, index) => [value, Array.isArray(names) ? names[index] : undefined])
      : undefined
  if (!found) return undefined
  if (found.length === 0) throw unclear(name)
  if (found.length > MOST_OPTIONS)
    throw new UnaskableForm(`a field of its form has more than ${MOST_OPTIONS} values`)
  return found.map(([value, title]) => {
    if (typeof value !== 'string' || value.length > LONGEST_VALUE) throw unclear(name)
    const label = cleanText(typeof title === 'string' && title !== '' ? title : value, LONGEST_TITLE)
    return { value, label: label || '(nothing)' }
  })
}

function shapeOf(name: string, { format, pattern }: Schema): object {
  const known = format === 'email' || format === 'uri' || format === 'date' || format === 'date-time'
  if (typeof pattern !== 'string') return known ? { format } : {}
  if (pattern.length > LONGEST_PATTERN || patternFlags(pattern) === undefined) throw unclear(name)
  return { pattern, ...(known ? { format } : {}) }
}

function limits(schema: Schema, ...names: readonly string[]): object {
  return Object.fromEntries(
    names.flatMap((name) => (Number.isFinite(schema[name]) ? [[name, schema[name]]] : [])),
  )
}

function textIn(schema: Schema, name: string, limit: number): string | undefined {
  const text = schema[name]
  return typeof text === 'string' ? cleanText(text, limit) || undefined : undefined
}

function unclear(name: string): UnaskableForm {
  return new UnaskableForm(
    `the field "${cleanText(name, LONGEST_TITLE)}" of its form is of no kind that there is`,
  )
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
