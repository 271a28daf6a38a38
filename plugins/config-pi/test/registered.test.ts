import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const command = (name: string) => ({ command: name })
const https = (host: string) => ({ url: `https://${host}/mcp` })

const registered = [
  {
    name: 'jira',
    config: { ...https('jira'), exposure: 'direct', auth: { provider: 'x' } },
    by: 'jira-extension',
  },
  { name: 'docs', config: command('docs'), by: 'docs-extension' },
]

test('registered servers come last', async () => {
  const state = await createPlace().read({ user: { mcpServers: { a: command('a') } } }, { registered })
  expect(state.servers).toMatchObject([
    { name: 'a', dialect: 'mcp.json' },
    {
      name: 'jira',
      dialect: 'registered',
      source: { label: 'jira-extension', scope: 'session' },
      naming: 'mcp',
      exposure: 'direct',
      requestTimeoutMs: 60_000,
      transport: { extra: { auth: { provider: 'x' } } },
    },
    { name: 'docs', dialect: 'registered', exposure: 'codemode' },
  ])
  expect(messages(state)).toEqual([])
})

test.each([
  ['jira', true],
  ['jira', false],
])('a server of mcp.json goes before a registered one, also a disabled one', async (name, enabled) => {
  const state = await createPlace().read(
    { user: { mcpServers: { [name]: { ...command('a'), enabled } } } },
    { registered },
  )
  expect(state.servers.map(({ name: one, dialect }) => [one, dialect])).toEqual([
    ['jira', 'mcp.json'],
    ['docs', 'registered'],
  ])
  expect(state.diagnostics).toEqual([
    {
      severity: 'info',
      message: `mcp server 'jira' of jira-extension is not used: 'jira' of ~/.pi/agent/mcp.json goes before it`,
      server: 'jira',
    },
  ])
})

test('invalid registrations are diagnosed with who made them', async () => {
  const bad = [
    { name: 'x y', config: command('a'), by: 'one' },
    { name: 'a', config: { timeout: 3 }, by: 'two' },
    { name: 'b-c', config: command('1'), by: 'three' },
    { name: 'b_c', config: { ...command('2'), colour: 'red' }, by: 'four' },
    { name: 'd', config: undefined, by: 'five' },
  ]
  const state = await createPlace().read({}, { registered: bad })
  expect(messages(state)).toEqual([
    `mcp server 'x y' failed: invalid server name "x y" (use letters, digits, "_" and "-") (registered by one)`,
    `mcp server 'a' failed: it needs either "command" (stdio) or "url" (streamable HTTP) (registered by two)`,
    `mcp server 'b_c': unknown key "colour" is ignored (registered by four)`,
    `mcp server 'b_c' of four is not used: 'b-c' of three goes before it`,
    `mcp server 'd' failed: the entry must be an object (registered by five)`,
  ])
  expect(state.servers).toMatchObject([{ name: 'b-c' }])
})
