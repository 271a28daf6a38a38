import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { FORMATS } from '../src/endpoint.ts'
import { createPlace, messages } from './place.ts'

const POSITIVE = 'must be positive: a whole number of at most 2147483647'
const DELAYS = 'reconnect delays must be positive: whole numbers of at most 2147483647'
const EXPOSURES = 'must be one of "codemode", "deferred", "direct", "hidden"'
const HTTPS = 'endpoint must be https, except 127.0.0.1, ::1 and localhost'
const FOREIGN =
  'a stdio server must not set endpoint or auth; remove streamable_http fields, or set kind = "streamable_http"'
const INLINE =
  'auth.token is not accepted: give the entry token_keychain_ref = "PI_MCP_TOKEN_…" in its place, then store the token in a shell with "tapline login <server> --token"'
const GOOD = '[[server]]\nname = "good"\ncommand = "x"\n'

const stdio = (rest: string) => `[[server]]\nname = "bad"\ncommand = "x"\n${rest}\n`
const http = (rest: string, endpoint = 'https://example.com/mcp') =>
  `[[server]]\nname = "bad"\nkind = "streamable_http"\nendpoint = "${endpoint}"\n${rest}\n`

/** What is refused, with the reason. `beyond`: the schema judges otherwise, and the comment says why. */
const REFUSED: readonly [entry: string, reason: string, beyond?: 'beyond the schema'][] = [
  ['[[server]]\nname = "bad"', 'missing command'],
  ['[[server]]\nname = "bad"\ncommand = ""', 'missing command'],
  ['[[server]]\nname = "bad"\ncommand = "  "', 'missing command'],
  ['[[server]]\nname = "bad"\ncommand = 3', 'command must be a string'],
  ['[[server]]\nname = "bad"\ncommand = "a\\u0000"', 'command must be a string'],
  [stdio('kind = "websocket"'), 'unknown kind "websocket" (stdio | streamable_http)'],
  [stdio('kind = "streamable-http"'), 'unknown kind "streamable-http" (stdio | streamable_http)'],
  [stdio('kind = ""'), 'unknown kind "" (stdio | streamable_http)'],
  [stdio('kind = 3'), 'kind must be stdio or streamable_http'],
  [stdio('args = "y"'), 'args must be an array of strings'],
  [stdio('args = [["y"]]'), 'args must be an array of strings'],
  [stdio('args = ["\\u0000"]'), 'args must be an array of strings'],
  [stdio('args = [nan]'), 'args must be an array of strings'],
  [stdio('env = "y"'), 'env must map names to strings'],
  [stdio('env = { A = [] }'), 'env must map names to strings'],
  [stdio('env = { "A=B" = "x" }'), 'env must map names to strings; a name must not be empty or contain "="'],
  [
    stdio('env = { "__proto__" = "x" }'),
    'env must map names to strings; a name must not be empty or contain "="',
  ],
  [stdio('cwd = 3'), 'cwd must be a string'],
  [stdio('inherit_env = "no"'), 'inherit_env must be true or false'],
  [stdio('endpoint = "https://example.com"'), FOREIGN],
  [stdio('endpoint = 3'), FOREIGN],
  [stdio('auth = { kind = "bearer", token_keychain_ref = "PI_MCP_TOKEN_X" }'), FOREIGN],
  ['[[server]]\nname = "bad"\nendpoint = "https://example.com/mcp"', `missing command; ${FOREIGN}`],
  ['[[server]]\nname = "bad"\nkind = "streamable_http"', 'missing endpoint'],
  [http('', ''), 'missing endpoint'],
  [http('', 'nowhere'), 'invalid endpoint'],
  ['[[server]]\nname = "bad"\nkind = "streamable_http"\nendpoint = 3', HTTPS],
  [http('', 'http://example.com/mcp'), HTTPS],
  [http('', 'http://127.0.0.2/mcp'), HTTPS],
  [http('', 'http://localhost.example.com/mcp'), HTTPS],
  [http('', 'ftp://127.0.0.1/mcp'), HTTPS],
  [http('', 'ws://localhost/mcp'), HTTPS],
  [http('', 'https://name:word@example.com/mcp'), 'endpoint must not contain credentials; use auth'],
  [http('', 'https://token@example.com/mcp'), 'endpoint must not contain credentials; use auth'],
  [http('command = "x"'), 'a streamable_http server must set endpoint, not command/args'],
  [http('args = ["x"]'), 'a streamable_http server must set endpoint, not command/args'],
  [http('auth = "x"'), 'auth must be a table'],
  [http('auth = {}'), 'unsupported streamable_http auth kind; expected bearer'],
  [
    http('auth = { kind = "basic", token_keychain_ref = "PI_MCP_TOKEN_X" }'),
    'unsupported streamable_http auth kind; expected bearer',
  ],
  [http('auth = { kind = "bearer" }'), 'bearer auth requires token_keychain_ref'],
  [http('auth = { kind = "bearer", token_keychain_ref = " " }'), 'bearer auth requires token_keychain_ref'],
  [http('auth = { kind = "bearer", token_keychain_ref = 3 }'), 'bearer auth requires token_keychain_ref'],
  [http('auth = { kind = "bearer", token = "t0k" }'), INLINE],
  [http('auth = { kind = "bearer", token_keychain_ref = "PI_MCP_TOKEN_X", token = "t0k" }'), INLINE],
  ...['request_timeout_ms', 'sse_idle_timeout_ms', 'body_cap_bytes'].flatMap((field) =>
    ['0', '-1', '1.5', '"30000"', '2147483648', 'inf', 'nan'].map((value): [string, string] => [
      stdio(`${field} = ${value}`),
      `${field} ${POSITIVE}`,
    ]),
  ),
  [http('request_timeout_ms = 0'), `request_timeout_ms ${POSITIVE}`],
  [stdio('reconnect = 3'), 'reconnect must be a table'],
  [stdio('reconnect = 2020-01-01'), 'reconnect must be a table'],
  ...['0', '-5', '0.5', '"500"', 'nan', '2147483648'].flatMap((value): [string, string][] => [
    [stdio(`reconnect = { initial_ms = ${value} }`), DELAYS],
    [stdio(`reconnect = { max_ms = ${value} }`), DELAYS],
    [stdio(`reconnect = { max_attempts = ${value} }`), `reconnect.max_attempts ${POSITIVE}`],
  ]),
  // How two numbers compare is beyond draft-07.
  [
    stdio('reconnect = { initial_ms = 10, max_ms = 9 }'),
    'reconnect.max_ms must not be below reconnect.initial_ms',
    'beyond the schema',
  ],
  [stdio('inject_summary = "yes"'), 'inject_summary must be true or false'],
  [stdio('inject_and_run = 1'), 'inject_and_run must be true or false'],
  [stdio('enabled = 0'), 'enabled must be true or false'],
  [stdio('description = []'), 'description must be a string'],
  [stdio('naming = "short"'), 'naming must be "original", "mcp", or "server"'],
  [stdio('exposure = "public"'), `exposure ${EXPOSURES}`],
  [stdio('tool_exposure = { "get_*" = "public" }'), `tool_exposure "get_*" ${EXPOSURES}`],
  [stdio('tool_exposure = { "__proto__" = "direct" }'), 'tool_exposure must map tool names to exposures'],
  [stdio('push = "run"'), 'push must map methods to policies'],
  [
    stdio('push = { default = " " }'),
    'push "default" must be ignore, log, inbox, summary, run, rules, or the name of a sink',
  ],
  [
    stdio('push = { default = { limit = "6/hour" } }'),
    'push "default" must be ignore, log, inbox, summary, run, rules, or the name of a sink',
  ],
  [
    stdio('push = { default = { policy = "run", limit = "often" } }'),
    'the limit of a push must be "<number>/<second|minute|hour|day>" or "none"',
  ],
  [
    stdio('push = { default = { policy = "run", windows = 1 } }'),
    'the windows of a push must be "all" or "owner"',
  ],
  [stdio('subscribe = "file:///a"'), 'subscribe must be an array of resource addresses or patterns'],
  [stdio('channel = 1'), 'channel must be true or false'],
  [stdio('push = { "__proto__" = "run" }'), 'push must map methods to policies'],
  [
    stdio('request_timeout_ms = 0\ninject_summary = 1'),
    `request_timeout_ms ${POSITIVE}; inject_summary must be true or false`,
  ],
]

const ACCEPTED: readonly string[] = [
  stdio(''),
  stdio(
    'kind = "stdio"\nargs = ["-y", 3, true, 1.5]\nenv = { A = "b", N = 3, T = true, D = 2020-01-01 }\ncwd = "sub"\ninherit_env = false',
  ),
  http(''),
  http('args = []'),
  http('', 'http://127.0.0.1:3000/mcp'),
  http('', 'http://127.1/mcp'),
  http('', 'http://[::1]/mcp'),
  http('', 'http://localhost/mcp'),
  http('auth = { kind = "bearer", token_keychain_ref = "PI_MCP_TOKEN_HUB" }'),
  http('auth = { kind = "bearer", token_keychain_ref = "hub" }'),
  http(
    'request_timeout_ms = 1\nsse_idle_timeout_ms = 2147483647\nbody_cap_bytes = 1_000\nreconnect = { initial_ms = 1, max_ms = 1, max_attempts = 1 }',
  ),
  stdio('[server.reconnect]\nmax_ms = 100'),
  stdio('inject_summary = false\ninject_and_run = true'),
  stdio(
    'enabled = false\ndescription = "Files"\nnaming = "mcp"\nexposure = "codemode"\ntool_exposure = { "a*" = "hidden" }',
  ),
  stdio('push = { default = "inbox", "notifications/*" = "my-sink" }'),
  stdio(
    'push = { default = { policy = "run", limit = "6/hour", windows = "owner" } }\nsubscribe = ["db://*"]\nchannel = true',
  ),
]

const schema = JSON.parse(
  readFileSync(new URL('../schema/mcp-toml.schema.json', import.meta.url), 'utf8'),
) as Record<string, unknown>
const valid = new Ajv({ strictTypes: false, formats: FORMATS, keywords: ['errorMessage'] }).compile(schema)
/** A date is a text to an editor's validator, as it is to the plugin. */
const fileOf = (text: string): unknown =>
  JSON.parse(
    JSON.stringify(parse(text), (_key, value: unknown) =>
      typeof value === 'number' && !Number.isFinite(value) ? null : value,
    ),
  )

test.each(REFUSED)('refuses %j: %s', async (entry, reason, beyond) => {
  const place = createPlace()
  const state = await place.read({ user: `${entry}\n${GOOD}` })
  expect(messages(state)).toEqual([`mcp server 'bad' failed: ${reason}`])
  expect(state.diagnostics[0]).toMatchObject({ severity: 'error', path: place.user, line: 1, server: 'bad' })
  expect(state.servers.map(({ name }) => name)).toEqual(['good'])
  expect(valid(fileOf(entry))).toBe(beyond !== undefined)
})

test.each(ACCEPTED)('accepts %j, and so does the schema', async (entry) => {
  const state = await createPlace().read({ user: entry })
  expect(messages(state)).toEqual([])
  expect(state.servers).toHaveLength(1)
  expect(valid(fileOf(entry))).toBe(true)
})

test.each([
  ['', 'server #1 in the user config needs a name'],
  ['name = ""', 'server #1 in the user config needs a name'],
  ['name = "  "', 'server #1 in the user config needs a name'],
  ['name = 3', 'server #1 in the user config needs a name'],
  [
    'name = "a b"',
    'server #1 in the user config needs a name of 1 to 32 letters, digits, "_" and "-" (it has "a b")',
  ],
  [
    'name = "__proto__"',
    'server #1 in the user config needs a name of 1 to 32 letters, digits, "_" and "-" (it has "__proto__")',
  ],
  [
    'name = "\\u202Ea"',
    'server #1 in the user config needs a name of 1 to 32 letters, digits, "_" and "-" (it has "?a")',
  ],
  [
    `name = "${'x'.repeat(33)}"`,
    `server #1 in the user config needs a name of 1 to 32 letters, digits, "_" and "-" (it has "${'x'.repeat(33)}")`,
  ],
])('a server with %j fails under its number', async (line, reason) => {
  const entry = `[[server]]\n${line}\ncommand = "x"\n`
  const state = await createPlace().read({ user: `${entry}${GOOD}` })
  expect(messages(state)).toEqual([`mcp server '#1' failed: ${reason}`])
  expect(state.servers).toMatchObject([{ name: 'good' }])
  expect(valid(fileOf(entry))).toBe(false)
})
