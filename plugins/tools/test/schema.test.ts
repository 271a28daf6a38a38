import { normalizeMcpInputSchema } from '@earendil-works/pi-mcp'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalSchema, inputSchema } from '../src/index.ts'

const schemaOf = (sent: unknown): unknown => {
  const outcome = inputSchema(sent)
  return 'schema' in outcome ? outcome.schema : outcome.reason
}
const text = (sent: unknown): string => JSON.stringify(schemaOf(sent))
const object = (rest: object) => ({ type: 'object', properties: {}, ...rest })

describe('the order', () => {
  it.each([
    ['keys by code units', { b: 1, a: 2, B: 3, é: 4, Z: 5 }, '"B":3,"Z":5,"a":2,"b":1'],
    ['property names', { properties: { b: {}, a: {} } }, '"properties":{"a":{},"b":{}}'],
    ['required names, each once', { required: ['b', 'a', 'b'] }, '"required":["a","b"]'],
    [
      'required of inner schemas',
      { properties: { x: { required: ['b', 'a'] } } },
      '{"x":{"required":["a","b"]}}',
    ],
    [
      'a property that is called required',
      { properties: { required: { enum: ['b', 'a'] } } },
      '{"required":{"enum":["b","a"]}}',
    ],
    ['values keep their order', { properties: { x: { enum: ['b', 'a', 'b'] } } }, '"enum":["b","a","b"]'],
    [
      'required inside of data is data',
      { properties: { x: { default: { required: ['b', 'a'] } } } },
      '{"required":["b","a"]}',
    ],
    [
      'objects inside of data mean the same in any order',
      { properties: { x: { const: { b: 1, a: [2, 1] } } } },
      '{"a":[2,1],"b":1}',
    ],
    [
      'alternatives keep theirs',
      { anyOf: [{ required: ['b'] }, { required: ['a'] }] },
      '[{"required":["b"]},{"required":["a"]}]',
    ],
    ['keywords of somebody’s own are data', { 'x-order': ['b', 'a'] }, '"x-order":["b","a"]'],
  ])('%s', (_what, sent, part) => {
    expect(text(object(sent))).toContain(part)
  })

  it('is the same for everything that means the same', () => {
    const shuffled = (value: unknown, order: (a: string, b: string) => number): unknown => {
      if (Array.isArray(value)) return value.map((item) => shuffled(item, order))
      if (typeof value !== 'object' || value === null) return value
      const entries = Object.entries(value).sort(([a], [b]) => order(a, b))
      return Object.fromEntries(entries.map(([key, item]) => [key, shuffled(item, order)]))
    }
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (values) => {
        const sent = object({
          properties: {
            x: { default: values },
            ...Object.fromEntries(Object.keys(values).map((key) => [key, {}])),
          },
        })
        expect(text(shuffled(sent, (a, b) => (a < b ? 1 : -1)))).toBe(
          text(shuffled(sent, (a, b) => (a < b ? -1 : 1))),
        )
      }),
    )
  })

  it('is not changed by doing it again, and changes nothing that was sent', () => {
    const sent = Object.freeze(object({ required: Object.freeze(['b', 'a']) }))
    const once = schemaOf(sent)
    expect(schemaOf(JSON.parse(JSON.stringify(once)))).toEqual(once)
    expect(schemaOf(once)).toBe(once)
    expect(sent).toEqual({ type: 'object', properties: {}, required: ['b', 'a'] })
  })
})

describe('what is made of it', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['no type', {}],
    ['nullable', { type: ['object', 'null'] }],
    ['nulls of Go', { type: 'object', properties: null, required: null, description: null }],
    ['draft 3’s required', { type: 'object', required: true }],
  ])('%s', (_what, sent) => {
    expect(schemaOf(sent)).toEqual({ type: 'object', properties: {}, required: [] })
  })

  it('agrees with pi wherever pi’s can be used', () => {
    const parts = fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.string(), fc.constantFrom({}, { type: 'string' }, true)),
        additionalProperties: fc.boolean(),
        anyOf: fc.constant([{ required: ['a'] }]),
        $schema: fc.constant('http://json-schema.org/draft-07/schema#'),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(parts, (sent) => {
        expect(schemaOf(sent)).toEqual({
          required: [],
          ...normalizeMcpInputSchema(sent as { type?: 'object' }),
        })
      }),
    )
  })

  it('draft 4’s exclusive bounds', () => {
    const sent = { n: { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } }
    expect(schemaOf(object({ properties: sent }))).toMatchObject({
      properties: { n: { exclusiveMinimum: 1, maximum: 9 } },
    })
    expect(text(object({ properties: sent }))).not.toContain('"minimum"')
  })

  it('a reference at the root becomes what it refers to', () => {
    const definitions = {
      Args: { type: 'object', properties: { q: { $ref: '#/definitions/Q' } }, required: ['q'] },
      Q: { type: 'string' },
    }
    expect(schemaOf({ $ref: '#/definitions/Args', definitions })).toEqual({
      ...definitions.Args,
      definitions,
    })
  })

  it('cleans what the model reads', () => {
    const sent = object({
      properties: {
        x: { description: '\u001B[31mred\u202E\u0007\nsecond line', examples: 'none', deprecated: 'yes' },
      },
    })
    expect(schemaOf(sent)).toMatchObject({ properties: { x: { description: 'red\nsecond line' } } })
    expect(text(sent)).not.toMatch(/examples|deprecated/)
  })

  it('keeps a key that is called __proto__ as a key', () => {
    const sent: unknown = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"}},"x-y":{"__proto__":{"a":1}}}',
    )
    expect(text(sent)).toBe(
      '{"properties":{"__proto__":{"type":"string"}},"required":[],"type":"object","x-y":{"__proto__":{"a":1}}}',
    )
    expect(({} as Record<string, unknown>)['a']).toBeUndefined()
  })
})

describe('what cannot be used', () => {
  const nested = (depth: number): object => (depth === 0 ? {} : { properties: { x: nested(depth - 1) } })
  it.each([
    ['a text', 'object', 'not an object'],
    ['false', false, 'not an object'],
    ['a list', [], 'not an object'],
    ['another type', { type: 'array' }, 'its type is "array", not "object"'],
    [
      'a type that does not exist',
      object({ properties: { x: { type: 'str' } } }),
      '#/properties/x/type is not one of the types',
    ],
    ['no list of names', object({ required: 'x' }), '#/required is not a list of names'],
    ['no schema', object({ properties: { x: 'string' } }), '#/properties/x is not a schema'],
    ['no list of schemas', object({ anyOf: [] }), '#/anyOf is not a list of schemas'],
    ['no values', object({ properties: { x: { enum: [] } } }), '#/properties/x/enum is not a list of values'],
    [
      'a pattern of another language',
      object({ properties: { x: { pattern: '(?P<n>a)' } } }),
      '#/properties/x/pattern is not a regular',
    ],
    [
      'a key that is no pattern',
      object({ patternProperties: { '(': {} } }),
      'the key "(" of #/patternProperties is not a regular',
    ],
    ['a count below nothing', object({ minProperties: -1 }), '#/minProperties is not a count'],
    [
      'a reference to nothing',
      object({ properties: { x: { $ref: '#/$defs/X' } } }),
      'refers to #/$defs/X, which is not in it',
    ],
    [
      'a reference to elsewhere',
      object({ properties: { x: { $ref: 'https://example.com/x.json' } } }),
      'https://example.com/x.json, which is not in it',
    ],
    [
      'a reference to no schema',
      object({ properties: { x: { $ref: '#/required' } }, required: [] }),
      '#/required, which is not a schema',
    ],
    [
      'a circle',
      object({ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }),
      'refers to itself and to nothing else',
    ],
    [
      'a circle at the root',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
      'refers to itself and to nothing else',
    ],
    ['depth', nested(100), 'nested deeper than 64 levels'],
    [
      'size',
      object({ properties: { x: { enum: Array.from({ length: 30_000 }, (_, index) => index) } } }),
      'it is too large',
    ],
    ['much text', object({ properties: { x: { default: 'x'.repeat(1_000_000) } } }), 'it is too large'],
    ['half a character', object({ properties: { x: { const: '\uD800' } } }), 'text that is not Unicode'],
  ])('%s', (_what, sent, reason) => {
    expect(schemaOf(sent)).toEqual(expect.stringContaining(reason))
  })

  it.each([
    ['the root', { $ref: '#' }],
    ['a definition', { $ref: '#/$defs/X' }],
    ['an escaped name', { $ref: '#/$defs/a~1b%20c' }],
    ['an anchor', { $ref: '#here' }],
    ['the root by its URI', { $ref: 'https://example.com/tool.json#/$defs/X' }],
    ['a resource inside, from the root', { $ref: 'inner.json' }],
    ['a place that no keyword names', { $ref: '#/components/schemas/X' }],
    ['a place inside of such a place', { $ref: '#/components/schemas/Y' }],
  ])('but a reference to %s can', (_what, x) => {
    const sent = object({
      $id: 'https://example.com/tool.json',
      properties: { x },
      $defs: {
        X: { type: 'string' },
        'a/b c': true,
        A: { $anchor: 'here' },
        I: { $id: 'inner.json', $ref: '#/$defs/J', $defs: { J: {} } },
      },
      components: { schemas: { X: { type: 'string' }, Y: { $ref: '#/components/schemas/X' } } },
    })
    expect(canonicalSchema(sent)).toHaveProperty('schema')
  })
})
