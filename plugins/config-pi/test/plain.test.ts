import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPlain } from '../src/plain.ts'
import { FORMATS } from '../src/urls.ts'

const schema = JSON.parse(
  readFileSync(new URL('../schema/mcp.schema.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, unknown>> & { readonly $id: string }
const ajv = new Ajv({ strict: false, formats: FORMATS, strictNumbers: false }).addSchema(schema)

const words = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a',
    'a=b',
    'A B',
    '\u0000',
    'x\u0000',
    '\n',
    '\u00a0',
    '__proto__',
    'constructor',
  ),
  fc.string({ maxLength: 3 }),
)
const odd = fc.oneof(
  words,
  fc.constantFrom(null, true, 1, -1, Infinity, NaN, [], {}, undefined, [1], { a: 1 }),
)
const listed = fc.oneof(fc.array(words, { maxLength: 3 }), fc.constant(['a', 1]), odd)
const mapped = (value: fc.Arbitrary<unknown>) =>
  fc.oneof(fc.dictionary(words, value, { maxKeys: 3, noNullPrototype: true }), odd)
const exposures = fc.oneof(
  fc.constantFrom('codemode', 'deferred', 'direct', 'hidden', 'codemode-deferred'),
  odd,
)
const fields: Record<string, fc.Arbitrary<unknown>> = {
  type: fc.oneof(fc.constantFrom('stdio', 'http', 'streamable-http'), odd),
  command: odd,
  args: listed,
  env: mapped(odd),
  cwd: odd,
  inheritEnv: odd,
  url: fc.oneof(fc.constantFrom('https://example.com/', 'ftp://x', '${URL}'), odd),
  headers: mapped(odd),
  oauth: odd,
  auth: odd,
  enabled: odd,
  timeout: odd,
  description: odd,
  exposure: exposures,
  toolExposure: mapped(exposures),
  push: mapped(odd),
  subscribe: listed,
  channel: odd,
  timout: odd,
}
const entries = fc.record(fields, { requiredKeys: [], noNullPrototype: true })

test('what is plain is what the schema allows', () => {
  for (const kind of ['stdio', 'http'] as const) {
    const allows = ajv.getSchema(`${schema.$id}#/definitions/${kind}`)!
    let plain = 0
    const needed = kind === 'stdio' ? { command: 'x' } : { url: 'https://example.com/mcp' }
    fc.assert(
      fc.property(entries, fc.subarray(Object.keys(fields)), fc.boolean(), (made, kept, whole) => {
        const some = Object.fromEntries(Object.entries(made).filter(([key]) => kept.includes(key)))
        const entry: unknown = whole ? some : { ...some, ...needed }
        if (!isPlain(kind, entry)) return
        plain++
        expect({ entry, allowed: allows(entry) }).toMatchObject({ allowed: true })
      }),
      { numRuns: 4_000 },
    )
    expect(plain).toBeGreaterThan(100)
  }
})

test('what is no object of its own is not plain', () => {
  const inherited = Object.assign(Object.create({ timeout: -1 }) as object, { command: 'x' })
  for (const entry of [inherited, ['x'], null, 'x']) expect(isPlain('stdio', entry)).toBe(false)
})
