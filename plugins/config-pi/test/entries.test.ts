import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const NEEDS = 'it needs either "command" (stdio) or "url" (streamable HTTP)'
const url = 'https://example.com/mcp'

test('the defaults of a stdio server are those of pi', async () => {
  const place = createPlace()
  const state = await place.read({
    user: { mcpServers: { files: { command: '~/bin/x', args: ['~/a', '~', 'b~/c'], cwd: 'sub' } } },
  })
  expect(state.servers).toEqual([
    {
      name: 'files',
      dialect: 'mcp.json',
      source: { label: '~/.pi/agent/mcp.json', scope: 'user', path: place.user, line: 3 },
      enabled: true,
      transport: {
        type: 'stdio',
        command: join(place.home, 'bin/x'),
        args: [join(place.home, 'a'), place.home, 'b~/c'],
        env: {},
        cwd: join(place.cwd, 'sub'),
        inheritEnv: true,
      },
      requestTimeoutMs: 60_000,
      reconnect: { initialMs: 500, maxMs: 30_000, maxAttempts: 20 },
      naming: 'mcp',
      exposure: 'codemode',
      toolExposure: {},
      results: { maxBytes: 20_480, overflow: 'temporary-file' },
      push: {},
    },
  ])
})

test('the defaults and fields of an HTTP server', async () => {
  const oauth = { clientId: 'x', clientSecret: '!pass' }
  const entry = {
    url,
    headers: { A: '${B}' },
    oauth,
    auth: { provider: 'github' },
    timeout: 1.5,
    enabled: false,
    description: 'Docs',
    exposure: 'codemode-deferred',
    toolExposure: { b: 'direct', 'a*': 'codemode-deferred' },
    push: { default: 'run', x: { policy: 'run', limit: '6/hour' } },
    subscribe: ['file:///*'],
    channel: true,
  }
  const [server] = (await createPlace().read({ user: { mcpServers: { docs: entry } } })).servers
  expect(server).toMatchObject({
    enabled: false,
    description: 'Docs',
    requestTimeoutMs: 1500,
    exposure: 'codemode',
    toolExposure: { b: 'direct', 'a*': 'codemode' },
    push: { default: 'run', x: { policy: 'run', limit: '6/hour' } },
    subscribe: ['file:///*'],
    channel: true,
  })
  expect(server!.transport).toEqual({
    type: 'streamable-http',
    url,
    headers: { A: '${B}' },
    sseIdleTimeoutMs: 240_000,
    bodyCapBytes: 64 * 1024 * 1024,
    extra: { oauth, auth: { provider: 'github' } },
  })
})

test('the order of toolExposure patterns is kept', async () => {
  const toolExposure = { 'z*': 'hidden', 'a*': 'direct', '*': 'deferred' }
  const [server] = (await createPlace().read({ user: { mcpServers: { a: { url, toolExposure } } } })).servers
  expect(Object.keys(server!.toolExposure)).toEqual(['z*', 'a*', '*'])
})

test.each<[unknown, string]>([
  [{ command: 'x', timout: 3 }, `unknown key "timout" is ignored; did you mean "timeout"?`],
  [{ url, header: {} }, `unknown key "header" is ignored; did you mean "headers"?`],
  [{ url, tool_exposure: {} }, `unknown key "tool_exposure" is ignored; did you mean "toolExposure"?`],
  [{ url, disabled: true }, `unknown key "disabled" is ignored; did you mean "enabled"?`],
  [{ command: 'x', environment: {} }, `unknown key "environment" is ignored; did you mean "env"?`],
  [
    { url, oauth: { clientID: 'x' } },
    `unknown key "oauth.clientID" is ignored; did you mean "oauth.clientId"?`,
  ],
  [{ url, alwaysAllow: [] }, `unknown key "alwaysAllow" is ignored`],
  [{ url, ['__proto__x']: 1 }, `unknown key "__proto__x" is ignored`],
  [{ command: 'x', headers: { A: 'b' } }, `"headers" is ignored: it belongs to HTTP servers`],
  [{ url, command: 'x' }, `"command" is ignored: it belongs to stdio servers`],
  [{ url, args: 3 }, `"args" is ignored: it belongs to stdio servers`],
  [
    { url: 'http://example.com/mcp', headers: { Authorization: 'x' } },
    'url is plain http to another machine: anyone on the way can read the credentials; use https',
  ],
  [
    { url: 'http://10.0.0.1/mcp', headers: { 'X-Api-Key': 'x' } },
    'url is plain http to another machine: anyone on the way can read the credentials; use https',
  ],
  [
    { url: 'http://example.com/mcp', oauth: {} },
    'url is plain http to another machine: anyone on the way can read the credentials; use https',
  ],
  [
    { url, timeout: 9e9 },
    'timeout is in seconds and longer than a timer can be; 2147483 seconds (24 days) are used',
  ],
  [
    { command: 'npx', args: ['--key=${KEY}'] },
    'variables in args are passed as they stand; env, headers and url are expanded',
  ],
])('warns of %j: %s', async (entry, warning) => {
  const state = await createPlace().read({ user: { mcpServers: { a: entry } } })
  expect(messages(state)).toEqual([`mcp server 'a': ${warning}`])
  expect(state.diagnostics[0]!.severity).toBe('warning')
  expect(state.servers).toHaveLength(1)
})

test.each([
  { url: 'http://localhost/mcp', headers: { Authorization: 'x' } },
  { url: 'http://example.com/mcp' },
  { url: 'http://example.com/mcp', headers: { Accept: 'x', 'User-Agent': 'y' } },
  { command: '/bin/bash', args: ['-c', 'echo ${HOME}'] },
])('does not warn of %j', async (entry) => {
  expect(messages(await createPlace().read({ user: { mcpServers: { a: entry } } }))).toEqual([])
})

test('a timeout is never longer than a timer can be', async () => {
  const [server] = (
    await createPlace().read({ user: '{"mcpServers":{"a":{"url":"http://x","timeout":1e999}}}' })
  ).servers
  expect(server!.requestTimeoutMs).toBe(2 ** 31 - 1)
})

test.each(['env', 'headers', 'toolExposure', 'push'])('__proto__ is not a name in %s', async (map) => {
  const entry = map === 'env' ? '"command":"x"' : '"url":"http://x"'
  const state = await createPlace().read({
    user: `{"mcpServers":{"a":{${entry},"${map}":{"__proto__":"direct"}}}}`,
  })
  expect(messages(state)).toEqual([expect.stringContaining(`mcp server 'a' failed: ${map} must map`)])
})

test('__proto__ is not the name of a server, and no prototype is touched', async () => {
  const state = await createPlace().read({
    user: '{"mcpServers":{"__proto__":{"command":"x"},"b":{"__proto__":{"command":"x"}}}}',
  })
  expect(messages(state)).toEqual([
    `mcp server '__proto__' failed: invalid server name "__proto__" (use letters, digits, "_" and "-")`,
    `mcp server 'b' failed: ${NEEDS}`,
  ])
  expect(({} as { command?: string }).command).toBeUndefined()
})
