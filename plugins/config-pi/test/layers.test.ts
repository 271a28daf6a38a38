import { join } from 'node:path'
import type { ServerSpec } from '@tapline/core'
import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const command = (name: string) => ({ command: name })
const https = (host: string) => ({ url: `https://${host}/mcp` })

test('user before project, and a project entry takes the place of the user’s', async () => {
  const place = createPlace()
  const state = await place.read({
    user: { mcpServers: { a: { ...command('a'), env: { SECRET: 'x' } }, b: command('b') } },
    project: { mcpServers: { c: command('c'), a: command('other') } },
  })
  expect(state.servers.map(({ name, source }) => [name, source.scope])).toEqual([
    ['a', 'project'],
    ['b', 'user'],
    ['c', 'project'],
  ])
  expect(state.servers[0]!.transport).toMatchObject({ command: 'other', env: {}, inheritEnv: true })
  expect(state.servers[0]!.source).toEqual({
    label: '~/work/project/.pi/mcp.json',
    scope: 'project',
    path: place.project,
    line: 6,
  })
  expect(messages(state)).toEqual([])
})

test('an untrusted project’s file is not read', async () => {
  const place = createPlace()
  const state = await place.read(
    { user: { mcpServers: { a: command('a') } }, project: 'not JSON' },
    { projectTrusted: false },
  )
  expect(state.servers).toHaveLength(1)
  expect(state.diagnostics).toEqual([
    {
      severity: 'info',
      message: `project MCP config ignored at ${place.project}: the project is not trusted`,
      path: place.project,
    },
  ])
})

test('a file that is both is the user’s, read once', async () => {
  const place = createPlace()
  const state = await place.read(
    { user: { mcpServers: { a: https('a') } } },
    { cwd: join(place.home, 'x'), agentDir: join(place.home, 'x', '.pi') },
  )
  expect(state.servers).toEqual([])
  const same = await place.read(
    { project: { mcpServers: { a: command('a') } } },
    { agentDir: join(place.cwd, '.pi') },
  )
  expect(same.servers).toMatchObject([{ name: 'a', source: { scope: 'user' } }])
})

test('an override changes three fields and keeps the rest', async () => {
  const place = createPlace()
  const headers = { Authorization: 'Bearer ${T}' }
  const state = await place.read({
    user: {
      mcpServers: {
        tools: {
          ...https('a'),
          headers,
          auth: { provider: 'x' },
          exposure: 'direct',
          toolExposure: { a: 'hidden' },
        },
        b: command('b'),
      },
    },
    project: {
      mcpServers: {
        tools: { enabled: false, exposure: 'codemode-deferred', toolExposure: { b: 'deferred' } },
      },
    },
  })
  expect(messages(state)).toEqual([])
  expect(state.servers).toMatchObject([
    {
      name: 'tools',
      enabled: false,
      exposure: 'codemode',
      toolExposure: { b: 'deferred' },
      transport: { headers, extra: { auth: { provider: 'x' } } },
      source: { scope: 'user', path: place.user, line: 3, override: place.project },
    },
    { name: 'b' },
  ])
  expect(state.servers[0]!.toolExposure).not.toHaveProperty('a')
})

test('an override may enable what the user’s file disables', async () => {
  const state = await createPlace().read({
    user: { mcpServers: { a: { ...command('a'), enabled: false } } },
    project: { mcpServers: { a: { enabled: true } } },
  })
  expect(state.servers).toMatchObject([{ enabled: true }])
})

test.each([
  [
    { enabled: false, env: { SECRET: 'hush' } },
    'an override can only set enabled, exposure, toolExposure, not "env"; the entry of ~/.pi/agent/mcp.json stays as it is',
  ],
  [
    { push: { default: 'run' } },
    'an override can only set enabled, exposure, toolExposure, not "push"; the entry of ~/.pi/agent/mcp.json stays as it is',
  ],
  [
    { headers: {}, timeout: 3 },
    'an override can only set enabled, exposure, toolExposure, not "headers", "timeout"; the entry of ~/.pi/agent/mcp.json stays as it is',
  ],
  [
    { exposure: 'x' },
    'exposure must be one of "codemode", "deferred", "direct", "hidden"; the entry of ~/.pi/agent/mcp.json stays as it is',
  ],
  [{ enabled: 'x' }, 'enabled must be a boolean; the entry of ~/.pi/agent/mcp.json stays as it is'],
])('the override %j is refused', async (entry, reason) => {
  const place = createPlace()
  const state = await place.read({
    user: { mcpServers: { a: command('a') } },
    project: { mcpServers: { a: entry } },
  })
  expect(messages(state)).toEqual([`mcp server 'a' failed: ${reason}`])
  expect(state.servers).toMatchObject([{ enabled: true, exposure: 'codemode', transport: { command: 'a' } }])
  expect(state.servers[0]!.source).not.toHaveProperty('override')
})

test.each([
  ['absent', ''],
  ['dev_tools', '; did you mean "dev-tools"?'],
  ['dev-tool', '; did you mean "dev-tools"?'],
])('the override of "%s" has nothing to override', async (name, hint) => {
  const state = await createPlace().read({
    user: { mcpServers: { 'dev-tools': command('a') } },
    project: { mcpServers: { [name]: { enabled: false } } },
  })
  expect(messages(state)).toEqual([
    `mcp server '${name}' failed: it needs "command" or "url", or a global server to override${hint}`,
  ])
  expect(state.servers).toMatchObject([{ enabled: true }])
})

test('a broken project entry leaves the user’s active and says so', async () => {
  const state = await createPlace().read({
    user: { mcpServers: { a: command('a') } },
    project: { mcpServers: { a: { command: 3 } } },
  })
  expect(messages(state)).toEqual([
    `mcp server 'a' failed: it needs either "command" (stdio) or "url" (streamable HTTP); the entry of ~/.pi/agent/mcp.json stays active`,
  ])
  expect(state.servers).toMatchObject([{ transport: { command: 'a' } }])
})

test.each([
  [{ user: { mcpServers: { 'a-b': command('1'), a_b: command('2') } } }],
  [{ user: { mcpServers: { 'a-b': command('1') } }, project: { mcpServers: { a_b: command('2') } } }],
])('of two names that differ only in - and _ the second is rejected', async (files) => {
  const state = await createPlace().read(files)
  expect(messages(state)).toEqual([`mcp server 'a_b' failed: server "a_b" conflicts with "a-b"`])
  expect(state.servers).toMatchObject([{ name: 'a-b', transport: { command: '1' } }])
})

test('auth is for the user’s file only', async () => {
  const auth = { provider: 'github' }
  const state = await createPlace().read({
    user: { mcpServers: { a: { ...https('a'), auth } } },
    project: { mcpServers: { a: { ...https('evil'), auth }, b: { ...https('b'), auth } } },
  })
  expect(messages(state)).toEqual([
    `mcp server 'a' failed: auth is only allowed in the global mcp.json; the entry of ~/.pi/agent/mcp.json stays active`,
    `mcp server 'b' failed: auth is only allowed in the global mcp.json`,
  ])
  expect(state.servers).toMatchObject([{ name: 'a', transport: { url: 'https://a/mcp' } }])
})

test('what earlier dialects gave stays, and holds its names', async () => {
  const place = createPlace()
  const first = await place.read({ user: { mcpServers: { 'a-b': command('a') } } })
  const before = {
    ...first,
    servers: [
      {
        ...(first.servers[0] as ServerSpec),
        dialect: 'other',
        source: { label: 'other file', scope: 'user' as const },
      },
    ],
  }
  const state = await place.read({ user: { mcpServers: { a_b: command('b'), c: command('c') } } }, {}, before)
  expect(state.servers.map(({ name, dialect }) => [name, dialect])).toEqual([
    ['a-b', 'other'],
    ['c', 'mcp.json'],
  ])
  expect(state.diagnostics).toEqual([
    {
      severity: 'warning',
      message: `mcp server 'a_b' of ~/.pi/agent/mcp.json is not used: 'a-b' of other file goes before it`,
      server: 'a_b',
      path: place.user,
      line: 3,
    },
  ])
})
