import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalSchema, inputSchema } from '../src/index.ts'

/* Ajv is the judge of what a schema means and of whether it is one. It takes 3 ms a schema, so that it judges here and not at run time. */
const options = { strict: false, logger: false, allowUnionTypes: true } as const
const [old, current] = [new Ajv(options), new Ajv2020(options)]
const compile = (schema: object) => ('$schema' in schema ? old : current).compile(schema)

const name = fc.constantFrom('a', 'b', 'required', 'default', '$ref', 'type', '10', '9', 'é')
const number = fc.integer({ min: -3, max: 9 })
const count = fc.integer({ min: 0, max: 4 })
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const inner = fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom({}, { type: 'string' }, true),
    tie('schema'),
  )
  const list = fc.array(inner, { minLength: 1, maxLength: 3 })
  return {
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(true, false, {}, { type: 'integer' }, { $ref: '#/$defs/T' }, { $ref: '#' }),
      fc.record(
        {
          type: fc.constantFrom(
            'object',
            'array',
            'string',
            'number',
            'null',
            ['string', 'integer'],
            ['object', 'null'],
          ),
          properties: fc.dictionary(name, inner, { maxKeys: 4 }),
          patternProperties: fc.dictionary(fc.constantFrom('^a', '\\d', '[b-c]'), inner, { maxKeys: 2 }),
          additionalProperties: inner,
          propertyNames: inner,
          required: fc.uniqueArray(name, { maxLength: 3 }),
          dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }),
          items: inner,
          contains: inner,
          uniqueItems: fc.boolean(),
          enum: fc.uniqueArray(fc.constantFrom('a', 'b', 1, null), { minLength: 1, maxLength: 3 }),
          const: fc.constantFrom('a', 1, null, { b: 1, a: [2, 1] }),
          default: fc.jsonValue({ maxDepth: 1 }),
          anyOf: list,
          allOf: list,
          oneOf: list,
          not: inner,
          if: inner,
          // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
          then: inner,
          else: inner,
          minimum: number,
          exclusiveMaximum: number,
          multipleOf: fc.constantFrom(1, 2, 0.5),
          minLength: count,
          maxProperties: count,
          minItems: count,
          pattern: fc.constantFrom('^a', 'b$', '\\p{L}'),
          description: fc.string(),
          'x-own': fc.jsonValue({ maxDepth: 1 }),
        },
        { requiredKeys: [] },
      ),
    ),
  }
})
const root = fc.tuple(schema, fc.boolean()).map(([sent, old]): object => ({
  ...(typeof sent === 'object' ? sent : { not: { not: sent } }),
  $defs: { T: { type: 'string', maxLength: 1 } },
  ...(old ? { $schema: 'http://json-schema.org/draft-07/schema#' } : {}),
}))
const value = fc.oneof(
  fc.dictionary(name, fc.oneof(fc.constantFrom('a', 'b', 'abc'), number, fc.jsonValue({ maxDepth: 2 })), {
    maxKeys: 5,
  }),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Whether a value passes; a schema that refers to itself without end has no answer. */
function verdict(validate: (value: unknown) => unknown, given: unknown): unknown {
  try {
    return validate(given)
  } catch (thrown) {
    return (thrown as Error).name
  }
}

describe('a canonical schema', () => {
  it('means what the server’s schema means', () => {
    fc.assert(
      fc.property(root, fc.array(value, { minLength: 5, maxLength: 20 }), (sent, values) => {
        const outcome = canonicalSchema(sent)
        if (!('schema' in outcome)) return
        const [before, after] = [compile(sent), compile(outcome.schema)]
        for (const given of values) expect(verdict(after, given)).toBe(verdict(before, given))
      }),
      { numRuns: 100 },
    )
  })

  it('takes the same arguments as the server’s', () => {
    const object = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 })
    fc.assert(
      fc.property(root, fc.array(object, { minLength: 5, maxLength: 20 }), (sent, values) => {
        const outcome = inputSchema(sent)
        if (!('schema' in outcome)) return
        const [before, after] = [compile(sent), compile(outcome.schema)]
        for (const given of values) expect(verdict(after, given)).toBe(verdict(before, given))
      }),
      { numRuns: 100 },
    )
  })
})

/* Values of which each is right for some keywords and wrong for others. */
const anything = fc.constantFrom<unknown[]>(
  'object',
  'x',
  '',
  '(',
  -1,
  1,
  1.5,
  true,
  {},
  [],
  [{}],
  ['a'],
  ['a', 'a'],
  [1],
  ['string'],
  { a: {} },
  { a: 1 },
  { a: ['b'] },
  { '(': {} },
)
const judged = (
  'type properties patternProperties additionalProperties propertyNames required dependentRequired items contains ' +
  'enum const anyOf allOf oneOf not if then else minimum exclusiveMaximum multipleOf minLength maxItems minProperties ' +
  'pattern uniqueItems $ref $defs prefixItems unevaluatedProperties'
).split(' ')

describe('what cannot be used', () => {
  it('is what Ajv cannot compile', () => {
    fc.assert(
      fc.property(fc.constantFrom(...judged), anything, fc.boolean(), (keyword, given, deep) => {
        const sent = deep ? { properties: { x: { [keyword]: given } } } : { [keyword]: given }
        const usable = 'schema' in canonicalSchema(sent)
        expect({ sent, usable }).toEqual({
          sent,
          usable: !endless(sent) && (more(keyword, given) || compiles(sent)),
        })
      }),
      { numRuns: 1_000 },
    )
  })
})

/** Where more is taken than 2020-12 allows: names that stand twice, and draft-07's and draft 3's ways. */
function more(keyword: string, given: unknown): boolean {
  const twice = Array.isArray(given) && given.length === 2
  if (keyword === 'required') return twice || typeof given === 'boolean'
  return (
    (keyword === 'items' && Array.isArray(given) && given.length === 1 && typeof given[0] === 'object') ||
    (keyword === 'exclusiveMaximum' && given === true)
  )
}

/** A root that refers to itself compiles, and never ends. */
function endless(sent: object): boolean {
  return '$ref' in sent && sent.$ref === ''
}

function compiles(sent: object): boolean {
  try {
    compile(sent)
    return true
  } catch {
    return false
  }
}
