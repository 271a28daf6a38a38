import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldsOf, UnaskableForm } from '../../../src/session/elicitation/fields.ts'
import { contentProblem, fieldProblem } from '../../../src/session/elicitation/fitting.ts'
import type { ElicitationField } from '../../../src/types/index.ts'

const form = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
})
const only = (schema: object): ElicitationField => fieldsOf(form({ it: schema }))[0]!

const words = fc.string({ unit: 'grapheme', maxLength: 8 })
const values = fc.uniqueArray(words, { minLength: 1, maxLength: 5 })
/** Those that JSON has. */
const numbers = fc.double({ noNaN: true, noDefaultInfinity: true })
const limit = fc.integer({ min: 0, max: 6 })

/** Schemas of every kind that the specification has, with nothing in them that contradicts itself by accident. */
const schemas = fc.oneof(
  fc.constant({ type: 'boolean' }),
  fc.record(
    {
      type: fc.constantFrom('number', 'integer'),
      minimum: numbers,
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constant('string'),
      minLength: limit,
      maxLength: limit,
      pattern: fc.constantFrom('^a', '\\d', '.{2}'),
    },
    { requiredKeys: ['type'] },
  ),
  values.map((found) => ({ type: 'string', enum: found })),
  values.map((found) => ({ type: 'string', enum: found, enumNames: found.map((value) => `<${value}>`) })),
  values.map((found) => ({ type: 'string', oneOf: found.map((value) => ({ const: value, title: 'T' })) })),
  fc.tuple(values, limit, limit, fc.boolean()).map(([found, minItems, maxItems, titled]) => ({
    type: 'array',
    minItems,
    maxItems,
    items: titled
      ? { anyOf: found.map((value) => ({ const: value, title: 'T' })) }
      : { type: 'string', enum: found },
  })),
)
const validator = new AjvJsonSchemaValidator()
const fits = (schema: object, value: unknown): boolean => validator.getValidator(schema)(value).valid

describe('a field', () => {
  it('takes the values that its schema takes, and no others', () => {
    fc.assert(
      fc.property(
        schemas,
        fc.oneof(words, numbers, fc.integer(), fc.boolean(), fc.array(words)),
        (schema, any) => {
          const field = only(schema)
          const { minimum } = schema as { minimum?: number }
          const own = 'options' in field ? field.options.map(({ value }) => value) : []
          // Arbitrary texts are hardly ever among the values.
          for (const value of [any, minimum ?? 0, own[0] ?? '', own.slice(0, 2), own])
            expect([value, fieldProblem(field, value) === undefined]).toEqual([value, fits(schema, value)])
        },
      ),
    )
  })

  it('has a default only where it fits', () => {
    fc.assert(
      fc.property(
        schemas,
        fc.oneof(words, fc.integer(), fc.boolean(), fc.array(words)),
        (schema, fallback) => {
          const field = only({ ...schema, default: fallback })
          const { pattern: _, ...unpatterned } = schema as { pattern?: string }
          expect('default' in field).toBe(fits(unpatterned, fallback))
        },
      ),
    )
  })

  it.each([
    [
      { type: 'boolean', title: 'Sure?', default: false },
      { type: 'boolean', title: 'Sure?', default: false },
    ],
    [
      { type: 'integer', minimum: 1, maximum: 9 },
      { type: 'integer', title: 'it', minimum: 1, maximum: 9 },
    ],
    [
      { type: 'string', enum: ['a', 'b'], enumNames: ['A', ''], default: 'b' },
      {
        type: 'choice',
        default: 'b',
        options: [
          { value: 'a', label: 'A' },
          { value: 'b', label: 'b' },
        ],
      },
    ],
    [
      { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] }, maxItems: 1 },
      { type: 'choices', maxItems: 1, options: [{ value: 'x', label: 'X' }] },
    ],
    [
      { type: 'string', format: 'email', minLength: 3 },
      { type: 'text', format: 'email', minLength: 3 },
    ],
  ])('of %j is asked as %j', (schema, field) => {
    expect(only(schema)).toMatchObject(field)
  })

  it.each([
    [
      'email',
      ['a@b.co', 'first.last+tag@sub.example.com'],
      ['a@b', 'a b@c.de', '@b.co', 'a@b..co', 'a@-b.co', ''],
    ],
    [
      'uri',
      ['https://example.com/a?b#c', 'mailto:a@b.co', 'urn:x:y'],
      ['example.com', '/a', 'http://a b', ''],
    ],
    [
      'date',
      ['2026-07-28', '2024-02-29', '0001-01-01'],
      ['2026-02-29', '2026-13-01', '26-07-28', '2026-07-28T00:00:00Z'],
    ],
    [
      'date-time',
      ['2026-07-28T14:30:00Z', '2026-07-28t14:30:00.123+02:00', '2026-12-31T23:59:60Z'],
      ['2026-07-28', '2026-07-28T14:30', '2026-07-28T25:00:00Z', '2026-07-28T14:30:00'],
    ],
  ])('of the format %s takes what is one', (format, good, bad) => {
    const field = only({ type: 'string', format })
    for (const value of good) expect([value, fieldProblem(field, value)]).toEqual([value, undefined])
    for (const value of bad) expect([value, fieldProblem(field, value)]).toEqual([value, expect.any(String)])
  })

  // As generators of schemas have it for what need not be there; the protocol has no null.
  it.each([
    ['anyOf', { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] }],
    ['oneOf', { oneOf: [{ type: 'null' }, { type: 'string', maxLength: 3 }] }],
    ['type', { type: ['string', 'null'], maxLength: 3 }],
  ])('that may be null by its %s is asked as the other thing', (_how, schema) => {
    const field = only({ ...schema, title: 'T', description: 'D', default: null })
    expect(field).toEqual({
      type: 'text',
      name: 'it',
      title: 'T',
      description: 'D',
      required: false,
      maxLength: 3,
    })
    expect(only({ ...schema, default: 'abc' })).toMatchObject({ default: 'abc' })
  })

  it('of very many values is one that can be asked', () => {
    const countries = Array.from({ length: 1_000 }, (_, n) => `country ${n}`)
    expect(only({ type: 'string', enum: countries })).toMatchObject({ type: 'choice' })
  })

  it('with an expression that takes for ever is answered in time', () => {
    const field = only({ type: 'string', pattern: '^(a+)+$' })
    const before = performance.now()
    expect(fieldProblem(field, `${'a'.repeat(50)}!`)).toBe(
      'Whether it matches /^(a+)+$/ cannot be said in time.',
    )
    expect(performance.now() - before).toBeLessThan(2_000)
    expect(fieldProblem(field, 'aaa')).toBeUndefined()
  })

  it('shows nothing that steers a terminal, and little of what is long', () => {
    const odd = '\u001B[31mred\u202E\n next'
    const [field] = fieldsOf(
      form({ [odd]: { type: 'string', title: odd, description: `${odd}${'x'.repeat(2_000)}` } }),
    )
    expect(field).toMatchObject({ name: odd, title: 'red next' })
    expect(field?.description).toHaveLength(500)
    expect(only({ type: 'string', enum: [odd, ''] })).toMatchObject({
      options: [
        { value: odd, label: 'red next' },
        { value: '', label: '(nothing)' },
      ],
    })
  })
})

describe('a form', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no fields', { type: 'object' }],
    ['a field that is none', form({ a: null })],
    ['an object in it', form({ a: { type: 'object', properties: {} } })],
    ['a list of anything', form({ a: { type: 'array', items: { type: 'string' } } })],
    ['no values to choose from', form({ a: { type: 'string', enum: [] } })],
    ['values that are no texts', form({ a: { type: 'string', enum: [1] } })],
    ['too many values', form({ a: { type: 'string', enum: Array.from({ length: 1_001 }, String) } })],
    [
      'too many fields',
      form(Object.fromEntries(Array.from({ length: 33 }, (_, n) => [n, { type: 'string' }]))),
    ],
    ['a required field that is not there', form({ a: { type: 'string' } }, ['b'])],
    ['one field of two kinds', form({ a: { anyOf: [{ type: 'string' }, { type: 'integer' }] } })],
    ['a field that is nothing', form({ a: { anyOf: [{ type: 'null' }] } })],
    ['an expression that is none', form({ a: { type: 'string', pattern: '(' } })],
    ['an endless expression', form({ a: { type: 'string', pattern: 'x'.repeat(501) } })],
    ['a name that is no name', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as unknown],
  ])('with %s cannot be asked', (_what, schema) => {
    expect(() => fieldsOf(schema)).toThrow(UnaskableForm)
  })

  it('of any kind is asked within bounds, or not at all', () => {
    const anything = fc.anything({ maxDepth: 4, withNullPrototype: true })
    const near = fc.dictionary(fc.string(), fc.oneof(schemas, anything)).map((properties) => form(properties))
    fc.assert(
      fc.property(fc.oneof(anything, near), (schema) => {
        for (const { title, description = '', name } of fieldsOrNone(schema)) {
          expect(title.length).toBeGreaterThan(0)
          expect(Array.from(title).length + Array.from(description).length).toBeLessThanOrEqual(600)
          expect(`${title}${description}`).not.toMatch(/[\p{Cc}\u202A-\u202E]/u)
          expect(name).not.toBe('__proto__')
        }
      }),
    )
  })

  it('is answered as it asks', () => {
    const fields = fieldsOf(
      form({ name: { type: 'string', title: 'Name' }, age: { type: 'integer', title: 'Age' } }, ['name']),
    )
    expect(contentProblem(fields, { name: 'Ada', age: 36 })).toBeUndefined()
    expect(contentProblem(fields, { name: 'Ada' })).toBeUndefined()
    expect(contentProblem(fields, { age: 36 })).toBe('Name: It is required.')
    expect(contentProblem(fields, { name: 'Ada', age: 1.5 })).toBe('Age: That is no whole number.')
    expect(contentProblem(fields, { name: 'Ada', more: 1 })).toBe('more: It was not asked for.')
  })
})

/** None where the form is refused as one that cannot be asked; nothing else may be thrown. */
function fieldsOrNone(schema: unknown): readonly ElicitationField[] {
  try {
    return fieldsOf(schema)
  } catch (thrown) {
    if (thrown instanceof UnaskableForm) return []
    throw thrown
  }
}
