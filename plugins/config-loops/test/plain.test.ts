import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { FORMATS } from '../src/endpoint.ts'
import { isPlain } from '../src/plain.ts'

const schema = JSON.parse(
  readFileSync(new URL('../schema/mcp-toml.schema.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, unknown>> & { readonly $id: string }
const allows = new Ajv({ strict: false, formats: FORMATS })
  .addSchema(schema)
  .getSchema(`${schema.$id}#/definitions/fields`)!

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
  fc.constantFrom(true, 1, 0, -1, 1.5, 2 ** 31, Infinity, NaN, [], {}, [1], { a: 1 }),
)
const listed = fc.oneof(fc.array(words, { maxLength: 3 }), fc.constant(['a', 1]), odd)
const mapped = (value: fc.Arbitrary<unknown>) =>
  fc.oneof(fc.dictionary(words, value, { maxKeys: 3, noNullPrototype: true }), odd)
const exposures = fc.oneof(fc.constantFrom('codemode', 'deferred', 'direct', 'hidden'), odd)
const fields: Record<string, fc.Arbitrary<unknown>> = {
  name: odd,
  kind: fc.oneof(fc.constantFrom('stdio', 'streamable_http'), odd),
  enabled: odd,
  description: odd,
  command: odd,
  args: listed,
  env: mapped(odd),
  cwd: odd,
  inherit_env: odd,
  endpoint: odd,
  auth: odd,
  request_timeout_ms: odd,
  reconnect: odd,
  inject_summary: odd,
  inject_and_run: odd,
  push: mapped(odd),
  subscribe: listed,
  channel: odd,
  naming: fc.oneof(fc.constantFrom('original', 'mcp', 'server'), odd),
  exposure: exposures,
  tool_exposure: mapped(exposures),
  comand: odd,
}

test('what is plain is what the schema allows', () => {
  let plain = 0
  fc.assert(
    fc.property(
      fc.record(fields, { requiredKeys: [], noNullPrototype: true }),
      fc.subarray(Object.keys(fields)),
      (made, kept) => {
        const entry = Object.fromEntries(Object.entries(made).filter(([key]) => kept.includes(key)))
        if (!isPlain(entry)) return
        plain++
        expect({ entry, allowed: allows(entry) }).toMatchObject({ allowed: true })
      },
    ),
    { numRuns: 4_000 },
  )
  expect(plain).toBeGreaterThan(100)
})
