import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPlace } from './place.ts'

const SECRET = 's3cr3t-v4lue'
const good = { command: 'npx', args: ['-y', SECRET], env: { KEY: SECRET } }

/** Keys that mean something, so that arbitrary entries come near to valid ones. */
const KEYS = [
  'type',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'oauth',
  'auth',
  'timeout',
  'enabled',
  'description',
  'exposure',
  'toolExposure',
  'push',
  'inheritEnv',
  '__proto__',
  'constructor',
  'timout',
]
const value = fc.oneof(
  fc.constantFrom(
    'stdio',
    'http',
    'sse',
    'direct',
    'npx',
    'https://example.com/mcp',
    'http://a:b@c/',
    '${X}',
    '',
    true,
    false,
    null,
    0,
    30,
    -1,
    1.5,
  ),
  fc.constantFrom(
    [],
    {},
    ['a'],
    { a: 'b' },
    { a: 1 },
    { provider: 'x' },
    { clientId: 'x', callbackPort: 1 },
    { '*': 'hidden' },
  ),
  fc.jsonValue({ maxDepth: 2 }),
)
const entryOf = (keys: readonly string[]) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.dictionary(
        fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...keys) }, fc.string()),
        value,
        { maxKeys: 6, noNullPrototype: true },
      ),
    },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  )
const name = fc.oneof(
  fc.constantFrom('a', 'a-b', 'a_b', '__proto__', 'constructor', 'x y', ''),
  fc.string({ maxLength: 12 }),
)
const entries = fc.dictionary(name, entryOf(KEYS), { maxKeys: 5, noNullPrototype: true })
/** What Tapline refuses and pi does not, is refused on purpose: see the README. */
const entriesOfPi = fc.dictionary(
  name.filter((one) => one !== '__proto__'),
  entryOf(KEYS.filter((key) => !['push', 'inheritEnv', '__proto__'].includes(key))).filter(
    (raw) => !isStricter(raw),
  ),
  { maxKeys: 5, noNullPrototype: true },
)

test('arbitrary bytes never throw, and never take the other file down', { timeout: 60_000 }, async () => {
  const place = createPlace()
  const json = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ maxLength: 200, unit: 'binary' }),
    fc.json(),
    brokenJson(),
  )
  await fc.assert(
    fc.asyncProperty(json, async (content) => {
      const state = await place.read({ user: content, project: { mcpServers: { good } } })
      expect(state.servers.map((server) => server.name)).toContain('good')
      expect(state.diagnostics.every(({ message, path }) => message !== '' && path !== undefined)).toBe(true)
    }),
    { numRuns: 150 },
  )
})

test('arbitrary entries never take a good sibling down', { timeout: 60_000 }, async () => {
  const place = createPlace()
  await fc.assert(
    fc.asyncProperty(entries, entries, async (user, project) => {
      const state = await place.read({
        user: { mcpServers: { ...user, sibling: good } },
        project: { mcpServers: project },
      })
      const found = state.servers.filter((server) => server.name === 'sibling')
      if (Object.hasOwn(project, 'sibling')) return
      expect(found).toMatchObject([{ transport: { type: 'stdio', command: 'npx', env: { KEY: SECRET } } }])
      const names = state.servers.map((server) => server.name.replaceAll('-', '_'))
      expect(new Set(names).size).toBe(names.length)
      expect(names.every((one) => /^\w+$/.test(one) && one !== '__proto__')).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('no secret value is ever in a diagnostic', { timeout: 60_000 }, async () => {
  const place = createPlace()
  const secrets = fc.record(
    {
      command: fc.constantFrom('npx', ''),
      url: fc.constantFrom(
        'https://example.com/mcp',
        `https://u:${SECRET}@example.com/mcp`,
        `ftp://example.com/?key=${SECRET}`,
        `http://x/?key=${SECRET}`,
      ),
      args: fc.constantFrom([SECRET], [SECRET, 3], SECRET, { a: SECRET }),
      env: fc.constantFrom(
        { KEY: SECRET },
        { KEY: [SECRET] },
        { 'A=B': SECRET },
        { KEY: `\${NONE:-${SECRET}}` },
        SECRET,
      ),
      headers: fc.constantFrom(
        { Authorization: SECRET },
        { 'a b': SECRET },
        { Authorization: { a: SECRET } },
        [SECRET],
      ),
      oauth: fc.constantFrom(
        { clientSecret: SECRET },
        { clientSecret: [SECRET] },
        { clientId: SECRET, clientRegistration: 'cimd' },
        { callbackUrl: `http://localhost/?${SECRET}` },
      ),
      type: fc.constantFrom('stdio', 'http', 'sse', SECRET),
      cwd: fc.constantFrom(SECRET, [SECRET]),
      timeout: fc.constantFrom(1, SECRET),
      exposure: fc.constantFrom('direct', SECRET),
      unknown: fc.constant(SECRET),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  const cuts = fc.option(fc.nat(400))
  await fc.assert(
    fc.asyncProperty(secrets, secrets, cuts, async (user, project, cut) => {
      const text = JSON.stringify({ mcpServers: { a: user } }, undefined, 1)
      const state = await place.read({
        user: cut === null ? text : text.slice(0, cut) || ' ',
        project: { mcpServers: { a: project, b: project } },
      })
      expect(JSON.stringify(state.diagnostics)).not.toContain(SECRET)
    }),
    { numRuns: 300 },
  )
})

interface PiConfig {
  loadMcpConfig(options: { cwd: string; agentDir: string; projectTrusted: boolean }): {
    readonly servers: readonly {
      readonly name: string
      readonly scope: string
      readonly override?: string
      readonly config: Readonly<Record<string, unknown>>
    }[]
    readonly errors: readonly string[]
  }
}

test('reads what pi itself reads: the same servers in the same order', { timeout: 120_000 }, async () => {
  const pi = new URL(
    '../../../node_modules/@earendil-works/pi-coding-agent/dist/extensions/mcp/config.js',
    import.meta.url,
  )
  const { loadMcpConfig } = (await import(pi.href)) as PiConfig
  const place = createPlace()
  await fc.assert(
    fc.asyncProperty(entriesOfPi, entriesOfPi, async (user, project) => {
      const ours = await place.read({ user: { mcpServers: user }, project: { mcpServers: project } })
      const theirs = loadMcpConfig({
        cwd: place.cwd,
        agentDir: join(place.home, '.pi', 'agent'),
        projectTrusted: true,
      })
      expect(
        ours.servers.map((server) => [server.name, server.source.scope, server.source.override]),
      ).toEqual(
        theirs.servers.map((server) => [
          server.name,
          server.scope === 'global' ? 'user' : 'project',
          server.override,
        ]),
      )
      expect(ours.servers.map((server) => [server.enabled, server.exposure, server.transport.type])).toEqual(
        theirs.servers.map(({ config }) => [
          config.enabled ?? true,
          config.exposure ?? 'codemode',
          typeof config.url === 'string' && config.type !== 'stdio' ? 'streamable-http' : 'stdio',
        ]),
      )
      expect(ours.diagnostics.some(({ severity }) => severity === 'error')).toBe(theirs.errors.length > 0)
    }),
    { numRuns: 400 },
  )
})

function isStricter(raw: unknown): boolean {
  if (typeof raw !== 'object' || raw === null) return false
  const fields = raw as Record<string, unknown>
  const text = JSON.stringify(raw)
  return (
    Object.hasOwn(fields, 'push') ||
    Object.hasOwn(fields, 'inheritEnv') ||
    (typeof fields.command === 'string' && fields.command.trim() === '') ||
    fields.url === '${X}' ||
    text.includes('a:b@') ||
    text.includes('__proto__') ||
    text.includes('\\u0000') ||
    Object.keys(fields.headers ?? {}).some((header) => !/^[\w-]+$/.test(header)) ||
    Object.keys(fields.env ?? {}).some((variable) => variable === '' || variable.includes('='))
  )
}

function brokenJson(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.json(), fc.nat(60), fc.constantFrom(',', '}', '//', '/*', '"', '\\', '\u0000', '\uD800'))
    .map(([text, at, inserted]) => `{"mcpServers":{"x":${text.slice(0, at)}${inserted}${text.slice(at)}}}`)
}
