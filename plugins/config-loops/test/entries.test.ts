import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPlace, messages } from './place.ts'

const stdio = (rest: string) => `[[server]]\nname = "bad"\ncommand = "x"\n${rest}\n`
const http = (rest: string) =>
  `[[server]]\nname = "bad"\nkind = "streamable_http"\nendpoint = "https://example.com/mcp"\n${rest}\n`

test('a name may have 32 characters', async () => {
  const state = await createPlace().read({ user: `[[server]]\nname = "${'x'.repeat(32)}"\ncommand = "x"` })
  expect([state.servers.length, messages(state)]).toEqual([1, []])
})

test('the defaults of the user’s stdio server', async () => {
  const place = createPlace()
  const state = await place.read({
    user: '# mine\n[[server]]\nname = "files"\ncommand = "~/bin/x"\nargs = ["~/a", 3, true]\nenv = { N = 3 }',
  })
  expect(state.servers).toEqual([
    {
      name: 'files',
      dialect: 'mcp.toml',
      source: { label: '~/.pi/agent/loops/mcp.toml', scope: 'user', path: place.user, line: 2 },
      enabled: true,
      transport: {
        type: 'stdio',
        command: join(place.home, 'bin/x'),
        args: [join(place.home, 'a'), '3', 'true'],
        env: { N: '3' },
        inheritEnv: true,
      },
      requestTimeoutMs: 30_000,
      reconnect: { initialMs: 500, maxMs: 30_000, maxAttempts: 20 },
      naming: 'original',
      exposure: 'direct',
      toolExposure: {},
      results: { maxBytes: 65_536, overflow: 'temporary-file' },
      push: {},
    },
  ])
})

test('a project’s stdio server runs in its project and inherits nothing', async () => {
  const place = createPlace()
  const text =
    '[[server]]\nname = "a"\ncommand = "./x"\n[[server]]\nname = "b"\ncommand = "x"\ncwd = "sub"\ninherit_env = true'
  const state = await place.read({ project: text })
  expect(state.servers.map(({ transport, source }) => [source.scope, transport])).toEqual([
    ['project', { type: 'stdio', command: './x', args: [], env: {}, cwd: place.cwd, inheritEnv: false }],
    [
      'project',
      { type: 'stdio', command: 'x', args: [], env: {}, cwd: join(place.cwd, 'sub'), inheritEnv: true },
    ],
  ])
})

test('the user’s cwd: relative to the session, ~ is home, absolute stays', async () => {
  const place = createPlace()
  const entry = (name: string, cwd: string) => `[[server]]\nname = "${name}"\ncommand = "x"\ncwd = "${cwd}"\n`
  const state = await place.read({ user: entry('a', 'sub') + entry('b', '~/c') + entry('c', '/d') })
  expect(state.servers.map(({ transport }) => transport)).toMatchObject([
    { cwd: join(place.cwd, 'sub') },
    { cwd: join(place.home, 'c') },
    { cwd: '/d' },
  ])
})

test('an HTTP server, its defaults and all its fields', async () => {
  const more = `auth = { kind = "bearer", token_keychain_ref = "PI_MCP_TOKEN_HUB" }
request_timeout_ms = 1
sse_idle_timeout_ms = 2
body_cap_bytes = 3
reconnect = { initial_ms = 4, max_ms = 5, max_attempts = 6 }
enabled = false
description = "Hub"
naming = "server"
exposure = "deferred"
tool_exposure = { "z*" = "hidden", "a*" = "codemode" }
push = { "notifications/x" = "run", "notifications/y" = { policy = "run", limit = "6/hour" } }
subscribe = ["file:///*"]
channel = true`
  const state = await createPlace().read({ user: http('') + http(more).replace('bad', 'hub') })
  expect(state.servers[0]!.transport).toEqual({
    type: 'streamable-http',
    url: 'https://example.com/mcp',
    headers: {},
    sseIdleTimeoutMs: 60_000,
    bodyCapBytes: 1_048_576,
  })
  expect(state.servers[1]).toMatchObject({
    enabled: false,
    description: 'Hub',
    requestTimeoutMs: 1,
    reconnect: { initialMs: 4, maxMs: 5, maxAttempts: 6 },
    naming: 'server',
    exposure: 'deferred',
    toolExposure: { 'z*': 'hidden', 'a*': 'codemode' },
    push: { 'notifications/x': 'run', 'notifications/y': { policy: 'run', limit: '6/hour' } },
    subscribe: ['file:///*'],
    channel: true,
    transport: { auth: { kind: 'bearer', ref: 'PI_MCP_TOKEN_HUB' }, sseIdleTimeoutMs: 2, bodyCapBytes: 3 },
  })
  expect(Object.keys(state.servers[1]!.toolExposure)).toEqual(['z*', 'a*'])
})

test.each([
  ['{ max_ms = 100 }', { initialMs: 100, maxMs: 100 }],
  ['{ initial_ms = 60000 }', { initialMs: 60_000, maxMs: 60_000 }],
  ['{ initial_ms = 10, max_attempts = 1 }', { initialMs: 10, maxMs: 30_000, maxAttempts: 1 }],
])('reconnect = %s', async (table, expected) => {
  const state = await createPlace().read({ user: stdio(`reconnect = ${table}`) })
  expect(state.servers[0]!.reconnect).toEqual({ maxAttempts: 20, ...expected })
})

test.each<[string, Record<string, string>, string[]]>([
  ['', {}, []],
  ['inject_summary = true', { default: 'summary' }, []],
  ['inject_and_run = true', { default: 'run' }, []],
  ['inject_summary = false\ninject_and_run = false', {}, []],
  [
    'inject_summary = true\ninject_and_run = true',
    { default: 'run' },
    ['inject_summary and inject_and_run are both set; inject_and_run wins'],
  ],
  ['inject_summary = true\npush = { a = "run" }', { default: 'summary', a: 'run' }, []],
  ['inject_summary = true\npush = { default = "summary" }', { default: 'summary' }, []],
  [
    'inject_summary = true\npush = { default = "inbox" }',
    { default: 'inbox' },
    ['push.default and the short form differ; push.default wins'],
  ],
])('the injection of %j', async (lines, push, warnings) => {
  const state = await createPlace().read({ user: stdio(lines) })
  expect(state.servers[0]!.push).toEqual(push)
  expect(messages(state)).toEqual(warnings.map((warning) => `mcp server 'bad': ${warning}`))
})

test.each([
  [stdio('inject_sumary = true'), 'unknown key "inject_sumary" is ignored; did you mean "inject_summary"?'],
  [stdio('inheritEnv = true'), 'unknown key "inheritEnv" is ignored; did you mean "inherit_env"?'],
  [stdio('disabled = true'), 'unknown key "disabled" is ignored; did you mean "enabled"?'],
  [stdio('colour = "red"'), 'unknown key "colour" is ignored'],
  [stdio('__proto__ = { command = "y" }'), 'unknown key "__proto__" is ignored'],
  [stdio('reconnect = { attempts = 3 }'), 'unknown key "reconnect.attempts" is ignored'],
  [
    stdio('reconnect = { initial = 3 }'),
    'unknown key "reconnect.initial" is ignored; did you mean "reconnect.initial_ms"?',
  ],
  [http('url = "https://example.com"'), 'unknown key "url" is ignored; did you mean "endpoint"?'],
  [
    http('auth = { kind = "bearer", token_keychain_ref = "x", scope = "y" }'),
    'unknown key "auth.scope" is ignored',
  ],
  [http('env = { A = "b" }'), 'env is ignored: it belongs to stdio servers'],
])('warns of %j: %s', async (entry, warning) => {
  const state = await createPlace().read({ user: entry })
  expect(messages(state)).toEqual([`mcp server 'bad': ${warning}`])
  expect(state.diagnostics[0]!.severity).toBe('warning')
  expect(state.servers).toHaveLength(1)
})

test('no prototype is touched', async () => {
  await createPlace().read({
    user: `[__proto__]\nadmin = true\n${stdio('')}[server.__proto__]\nadmin = true\n[server.env.__proto__]\nadmin = "x"`,
  })
  expect(({} as { admin?: unknown }).admin).toBeUndefined()
})
