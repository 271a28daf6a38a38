import * as fc from 'fast-check'
import { stringify } from 'smol-toml'
import { expect, test } from 'vitest'
import { createPlace } from './place.ts'

const SECRET = 's3cr3t-v4lue'
const GOOD = '[[server]]\nname = "good"\ncommand = "x"\n'
const KEYS = [
  'name',
  'kind',
  'command',
  'args',
  'env',
  'cwd',
  'inherit_env',
  'endpoint',
  'auth',
  'request_timeout_ms',
  'body_cap_bytes',
  'reconnect',
  'inject_summary',
  'inject_and_run',
  'push',
  'naming',
  'exposure',
  'tool_exposure',
  'enabled',
  '__proto__',
  'constructor',
  'inject_sumary',
]
const value = fc.oneof(
  fc.constantFrom<unknown>(
    'a',
    'a-b',
    'a_b',
    'stdio',
    'streamable_http',
    'https://example.com',
    'http://u:p@127.0.0.1',
    '',
    true,
    false,
    0,
    30_000,
    -1,
    1.5,
    Number.NaN,
  ),
  fc.constantFrom<unknown>(
    [],
    {},
    ['a'],
    { a: 'b' },
    { kind: 'bearer', token_keychain_ref: 'PI_MCP_TOKEN_X' },
    { initial_ms: 5, max_ms: 1 },
    new Date(0),
  ),
)
const entry = fc.dictionary(
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...KEYS) }, fc.string()),
  value,
  { maxKeys: 7 },
)

test('arbitrary bytes never throw, and never take the other file down', { timeout: 60_000 }, async () => {
  const place = createPlace()
  const broken = fc
    .tuple(
      fc.nat(GOOD.length),
      fc.constantFrom('[', ']', '"', '=', '\\', '\u0000', '#', "'''", '\uD800', '[[server]]\n'),
    )
    .map(([at, inserted]) => GOOD.slice(0, at) + inserted + GOOD.slice(at))
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ maxLength: 200, unit: 'binary' }),
    broken,
  )
  await fc.assert(
    fc.asyncProperty(content, fc.boolean(), async (bytes, asUser) => {
      const files = asUser ? { user: bytes, project: GOOD } : { user: GOOD, project: bytes }
      const state = await place.read(files)
      expect(state.servers.map((server) => server.name)).toContain('good')
      expect(state.diagnostics.every(({ message, path }) => message !== '' && path !== undefined)).toBe(true)
      const unanswered = await place.read({}, { trustOf: () => undefined })
      expect(unanswered.servers.every((server) => server.source.scope === 'user')).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('arbitrary entries never take a good sibling down', { timeout: 60_000 }, async () => {
  const place = createPlace()
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 5 }), async (entries) => {
      const text = `${stringify({ server: entries })}\n${entries.length === 0 ? '' : GOOD}`
      const state = await place.read({ user: text, project: text })
      if (entries.length === 0) return
      expect(state.servers.filter((server) => server.name === 'good')).toHaveLength(1)
      const keys = state.servers.map((server) => server.name.replaceAll('-', '_'))
      expect(new Set(keys).size).toBe(keys.length)
      for (const { name, requestTimeoutMs, reconnect } of state.servers) {
        expect(/^[\w-]{1,32}$/.test(name) && name !== '__proto__').toBe(true)
        const numbers = [requestTimeoutMs, reconnect.initialMs, reconnect.maxMs, reconnect.maxAttempts]
        expect(numbers.every((number) => Number.isInteger(number) && number > 0 && number < 2 ** 31)).toBe(
          true,
        )
        expect(reconnect.maxMs).toBeGreaterThanOrEqual(reconnect.initialMs)
      }
    }),
    { numRuns: 200 },
  )
})

test('no secret value is ever in a diagnostic', { timeout: 60_000 }, async () => {
  const place = createPlace()
  const secrets = fc.record(
    {
      name: fc.constantFrom('a', 'b'),
      kind: fc.constantFrom('stdio', 'streamable_http'),
      command: fc.constantFrom('npx', '', [SECRET]),
      args: fc.constantFrom([SECRET], [[SECRET]], SECRET, { a: SECRET }),
      env: fc.constantFrom({ KEY: SECRET }, { KEY: [SECRET] }, { 'A=B': SECRET }, SECRET),
      endpoint: fc.constantFrom(
        `https://u:${SECRET}@example.com/mcp`,
        `ftp://example.com/?key=${SECRET}`,
        SECRET,
      ),
      auth: fc.constantFrom(
        { kind: 'bearer', token: SECRET },
        { kind: SECRET },
        { kind: 'bearer', token_keychain_ref: SECRET },
        SECRET,
      ),
      request_timeout_ms: fc.constantFrom(1, SECRET),
      naming: fc.constantFrom('mcp', SECRET),
      push: fc.constantFrom({ default: SECRET }, SECRET),
      unknown: fc.constant(SECRET),
    },
    { requiredKeys: ['name'], noNullPrototype: true },
  )
  await fc.assert(
    fc.asyncProperty(
      secrets,
      secrets,
      fc.option(fc.nat(300)),
      fc.constantFrom(true, false, undefined),
      async (user, project, cut, trusted) => {
        const text = stringify({ server: [user, user] })
        const files = {
          user: cut === null ? text : text.slice(0, cut),
          project: stringify({ server: [project] }),
        }
        const state = await place.read(files, { trustOf: () => trusted })
        expect(JSON.stringify(state.diagnostics)).not.toContain(SECRET)
        // Arguments are what a question is about; values of the environment, tokens and passwords are not.
        const facts = state.questions
          .flatMap((question) => question.facts)
          .filter((fact) => !/ runs: | its pushes /.test(fact))
        expect(JSON.stringify(facts)).not.toContain(SECRET)
      },
    ),
    { numRuns: 300 },
  )
})
