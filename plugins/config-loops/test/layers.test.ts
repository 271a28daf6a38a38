import { join } from 'node:path'
import type { ServerSpec } from '@tapline/core'
import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const server = (name: string, command = name, more = '') =>
  `[[server]]\nname = "${name}"\ncommand = "${command}"\n${more}\n`
const commands = (servers: readonly ServerSpec[]) =>
  servers.map(({ name, transport }) => [
    name,
    transport.type === 'stdio' ? transport.command : transport.type,
  ])
const HELD = {
  severity: 'info',
  message: `mcp server 'b': the entry of the project config replaces that of the user config`,
}

test('a project entry takes the place of the user’s, whole', async () => {
  const place = createPlace()
  const state = await place.read({
    user: server('a') + server('b', 'b', 'env = { SECRET = "x" }\ninject_and_run = true') + server('c'),
    project: server('d') + server('b', 'other'),
  })
  expect(commands(state.servers)).toEqual([
    ['a', 'a'],
    ['b', 'other'],
    ['c', 'c'],
    ['d', 'd'],
  ])
  expect(state.servers[1]).toMatchObject({
    push: {},
    source: { scope: 'project', path: place.project, label: '~/work/project/.pi/mcp.toml' },
    transport: { env: {} },
  })
  expect(state.diagnostics).toMatchObject([HELD])
})

test('a repeated name replaces the earlier entry in place', async () => {
  const state = await createPlace().read({
    user: server('a', '1') + server('b') + server('a', '2'),
    project: server('c', '1') + server('c', '2'),
  })
  expect(commands(state.servers)).toEqual([
    ['a', '2'],
    ['b', 'b'],
    ['c', '2'],
  ])
  expect(messages(state)).toEqual([
    `mcp server 'a': duplicate name in the user config; the later entry wins`,
    `mcp server 'c': duplicate name in the project config; the later entry wins`,
  ])
})

test('- counts as _', async () => {
  const state = await createPlace().read({ user: server('a-b', '1') + server('a_b', '2') })
  expect(commands(state.servers)).toEqual([['a_b', '2']])
  expect(messages(state)).toEqual([
    `mcp server 'a_b': duplicate name in the user config; the later entry wins ('a-b' and 'a_b' are one name)`,
  ])
})

test('an invalid later entry leaves the earlier one active and says so', async () => {
  const state = await createPlace().read({
    user: server('a', '1') + server('a', ''),
    project: server('a', '', 'enabled = 3'),
  })
  expect(commands(state.servers)).toEqual([['a', '1']])
  expect(messages(state)).toEqual([
    `mcp server 'a' failed: missing command; the earlier entry stays active`,
    `mcp server 'a' failed: missing command; enabled must be true or false; the entry of the user config stays active`,
  ])
})

test('an invalid earlier entry does not stop the later one', async () => {
  const state = await createPlace().read({ user: server('a', '') + server('a', '2') })
  expect(commands(state.servers)).toEqual([['a', '2']])
  expect(messages(state)).toEqual([`mcp server 'a' failed: missing command`])
})

test('a file that is both is the user’s, and needs no yes', async () => {
  const place = createPlace()
  const state = await place.read(
    { project: server('a') },
    { loopsDir: join(place.cwd, '.pi'), trustOf: () => undefined },
  )
  expect(state).toMatchObject({
    servers: [{ source: { scope: 'user' }, transport: { inheritEnv: true } }],
    diagnostics: [],
    questions: [],
  })
})

test('parent directories are not searched', async () => {
  const place = createPlace()
  const state = await place.read({ project: server('a') }, { cwd: join(place.cwd, 'sub') })
  expect(state.servers).toEqual([])
})

test.each([true, false])(
  'names that an earlier dialect holds are not used (its server enabled: %s)',
  async (enabled) => {
    const place = createPlace()
    const [held] = (await place.read({ user: server('hub-x') })).servers
    const earlier: ServerSpec = {
      ...held!,
      dialect: 'mcp.json',
      enabled,
      source: { label: '~/.pi/agent/mcp.json', scope: 'user' },
    }
    const state = await place.read({ user: server('hub_x') + server('b') }, {}, { servers: [earlier] })
    expect(state.servers.map(({ name, dialect }) => [name, dialect])).toEqual([
      ['hub-x', 'mcp.json'],
      ['b', 'mcp.toml'],
    ])
    expect(state.diagnostics).toEqual([
      {
        severity: 'warning',
        message: `mcp server 'hub_x' of ~/.pi/agent/loops/mcp.toml is not used: 'hub-x' of ~/.pi/agent/mcp.json goes before it`,
        server: 'hub_x',
        path: place.user,
        line: 1,
      },
    ])
  },
)

test.each([
  'anthropic',
  'openai',
  'AWS_SECRET_ACCESS_KEY',
  'pi_mcp_token_x',
  ' PI_MCP_TOKEN_X',
  'sk-t0ken-in-the-wrong-field',
])('a project may not name the credential %j, a user may', async (ref) => {
  const text = `[[server]]\nname = "hub"\nkind = "streamable_http"\nendpoint = "https://example.com/mcp"\nauth = { kind = "bearer", token_keychain_ref = "${ref}" }\n`
  const refused = await createPlace().read({ project: text })
  expect(messages(refused)).toEqual([
    `mcp server 'hub' failed: token_keychain_ref in a project’s file must begin with PI_MCP_TOKEN_`,
  ])
  expect(refused.servers).toEqual([])
  expect((await createPlace().read({ user: text })).servers).toMatchObject([{ transport: { auth: { ref } } }])
})

test('a project may name PI_MCP_TOKEN_*', async () => {
  const text = `[[server]]\nname = "hub"\nkind = "streamable_http"\nendpoint = "https://example.com/mcp"\nauth = { kind = "bearer", token_keychain_ref = "PI_MCP_TOKEN_HUB" }\n`
  expect((await createPlace().read({ project: text })).servers).toMatchObject([
    { transport: { auth: { kind: 'bearer', ref: 'PI_MCP_TOKEN_HUB' } } },
  ])
})
