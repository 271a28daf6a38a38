import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { FORMATS } from '../src/urls.ts'
import { createPlace, messages } from './place.ts'

const NEEDS = 'it needs either "command" (stdio) or "url" (streamable HTTP)'
const EXPOSURES = 'must be one of "codemode", "deferred", "direct", "hidden"'
const SECURE = 'auth requires an https URL, or http on localhost, 127.0.0.1, or [::1]'
const url = 'https://example.com/mcp'

/** What is refused, with the reason. `beyond`: the schema, which judges fields alone, cannot know. */
const REFUSED: readonly [entry: unknown, reason: string, beyond?: 'beyond the schema'][] = [
  [null, 'the entry must be an object'],
  ['npx', 'the entry must be an object'],
  [[], 'the entry must be an object'],
  [{}, NEEDS, 'beyond the schema'],
  [{ enabled: false }, NEEDS, 'beyond the schema'],
  [{ command: 3 }, NEEDS],
  [{ url: 3 }, NEEDS],
  [{ type: 'http', command: 'x' }, NEEDS],
  [{ type: 'stdio', url }, NEEDS],
  [
    { type: 'sse', url },
    'legacy SSE transport is not supported; use the streamable HTTP URL, which is often the same address with /mcp instead of /sse',
  ],
  [{ type: 'websocket', url }, 'type must be "stdio", "http", or "streamable-http"'],
  [{ type: null, url }, 'type must be "stdio", "http", or "streamable-http"'],
  [{ command: '' }, 'command must name an executable'],
  [{ command: ' ' }, 'command must name an executable'],
  [{ command: 'x\0' }, 'command must name an executable'],
  [{ command: 'x', args: 'y' }, 'args must be an array of strings'],
  [{ command: 'x', args: ['y', 3] }, 'args must be an array of strings'],
  [{ command: 'x', args: ['y\0'] }, 'args must be an array of strings'],
  [{ command: 'x', env: [] }, 'env must map names to strings'],
  [{ command: 'x', env: { A: 3 } }, 'env must map names to strings'],
  [
    { command: 'x', env: { 'A=B': '3' } },
    'env must map names to strings; a name must not be empty or contain "="',
  ],
  [{ command: 'x', cwd: 3 }, 'cwd must be a string'],
  [{ command: 'x', inheritEnv: 'no' }, 'inheritEnv must be a boolean'],
  [{ command: 'x', enabled: 'no' }, 'enabled must be a boolean'],
  [{ command: 'x', timeout: '30' }, 'timeout must be a positive number of seconds'],
  [{ command: 'x', timeout: 0 }, 'timeout must be a positive number of seconds'],
  [{ url, timeout: -1 }, 'timeout must be a positive number of seconds'],
  [{ url, description: 3 }, 'description must be a string'],
  [{ url, exposure: 'public' }, `exposure ${EXPOSURES}`],
  [{ url, toolExposure: [] }, 'toolExposure must map tool names to exposures'],
  [{ url, toolExposure: { 'get_*': 'public' } }, `toolExposure "get_*" ${EXPOSURES}`],
  [{ url, push: 'run' }, 'push must map methods to policies'],
  [
    { url, push: { default: 3 } },
    'push "default" must be ignore, log, inbox, summary, run, rules, or the name of a sink',
  ],
  [
    { url, push: { default: ' ' } },
    'push "default" must be ignore, log, inbox, summary, run, rules, or the name of a sink',
  ],
  [
    { url, push: { default: { limit: '6/hour' } } },
    'push "default" must be ignore, log, inbox, summary, run, rules, or the name of a sink',
  ],
  [
    { url, push: { default: { policy: 'run', limit: '6 per hour' } } },
    'the limit of a push must be "<number>/<second|minute|hour|day>" or "none"',
  ],
  [
    { url, push: { default: { policy: 'run', windows: 'mine' } } },
    'the windows of a push must be "all" or "owner"',
  ],
  [{ url, subscribe: 'file:///a' }, 'subscribe must be an array of resource addresses or patterns'],
  [{ url, subscribe: [3] }, 'subscribe must be an array of resource addresses or patterns'],
  [{ url, channel: 'yes' }, 'channel must be true or false'],
  [{ url: 'example.com/mcp' }, 'url must be an http or https URL'],
  [{ url: 'ftp://example.com' }, 'url must be an http or https URL'],
  [{ url: 'file:///etc' }, 'url must be an http or https URL'],
  [
    { url: 'https://name:word@example.com' },
    'url must not contain credentials; use headers',
    'beyond the schema',
  ],
  [
    { url: 'https://${NAME}:word@example.com' },
    'url must not contain credentials; use headers',
    'beyond the schema',
  ],
  [{ url, headers: 'x' }, 'headers must map names to strings'],
  [{ url, headers: { A: 1 } }, 'headers must map names to strings'],
  [{ url, headers: { 'A B': '1' } }, 'headers must map names to strings; a name must be an HTTP header name'],
  [{ url, oauth: 'x' }, 'oauth must be an object'],
  [{ url, oauth: { clientId: 1 } }, 'oauth.clientId must be a string'],
  [{ url, oauth: { clientSecret: 1 } }, 'oauth.clientSecret must be a string'],
  [{ url, oauth: { callbackPort: 0 } }, 'oauth.callbackPort must be a port number'],
  [{ url, oauth: { callbackPort: 1.5 } }, 'oauth.callbackPort must be a port number'],
  [{ url, oauth: { callbackPort: 65_536 } }, 'oauth.callbackPort must be a port number'],
  ...[
    'https://localhost/callback',
    'http://example.com/callback',
    'http://localhost/callback?x=1',
    'nowhere',
  ].map((callbackUrl): [unknown, string] => [
    { url, oauth: { callbackUrl } },
    'oauth.callbackUrl must be an http URI on localhost, 127.0.0.1, or [::1] without query or fragment',
  ]),
  [
    { url, oauth: { callbackUrl: 'http://localhost:1/callback', callbackPort: 2 } },
    'oauth.callbackUrl and oauth.callbackPort name different ports',
    'beyond the schema',
  ],
  [{ url, oauth: { scope: [] } }, 'oauth.scope must be a string'],
  [{ url, oauth: { clientName: ' ' } }, 'oauth.clientName must be a non-empty string'],
  [{ url, oauth: { clientRegistration: 'x' } }, 'oauth.clientRegistration must be "auto", "dcr", or "cimd"'],
  ...[{ clientId: 'x' }, { clientName: 'x' }].map((further): [unknown, string, 'beyond the schema'] => [
    { url, oauth: { clientRegistration: 'cimd', ...further } },
    'oauth.clientRegistration "cimd" cannot be combined with oauth.clientId or oauth.clientName',
    'beyond the schema',
  ]),
  ...['http://[::1]/callback', 'http://localhost/other'].map(
    (callbackUrl): [unknown, string, 'beyond the schema'] => [
      { url, oauth: { clientRegistration: 'cimd', callbackUrl } },
      'oauth.clientRegistration "cimd" requires oauth.callbackUrl on localhost or 127.0.0.1 with path /callback',
      'beyond the schema',
    ],
  ),
  ...['http://example.com/x', 'nowhere'].map((authServerMetadataUrl): [unknown, string] => [
    { url, oauth: { authServerMetadataUrl } },
    'oauth.authServerMetadataUrl must be an https URL, or http on localhost, 127.0.0.1, or [::1]',
  ]),
  [{ url, auth: 'github' }, 'auth.provider must be a provider name'],
  [{ url, auth: {} }, 'auth.provider must be a provider name'],
  [{ url, auth: { provider: '' } }, 'auth.provider must be a provider name'],
  [{ url: 'http://example.com/mcp', auth: { provider: 'x' } }, SECURE, 'beyond the schema'],
  [{ url: '${BASE}/mcp', auth: { provider: 'x' } }, SECURE, 'beyond the schema'],
  [
    { command: 'x', timeout: 0, enabled: 1 },
    'enabled must be a boolean; timeout must be a positive number of seconds',
  ],
]

const ACCEPTED: readonly unknown[] = [
  { command: 'npx' },
  { type: 'stdio', command: 'npx', args: [], env: {}, cwd: '.', inheritEnv: false },
  { url },
  { type: 'http', url, headers: { Authorization: 'Bearer ${TOKEN}' } },
  { type: 'streamable-http', url: 'http://localhost:3000/mcp' },
  { url: '${BASE_URL}/mcp' },
  { url, enabled: false, timeout: 0.5, description: 'Documentation', exposure: 'codemode-deferred' },
  { url, toolExposure: { search: 'direct', 'get_*': 'codemode-deferred', 'delete_*': 'hidden' } },
  { url, push: { default: 'inbox', 'notifications/x/*': 'my-sink' } },
  {
    url,
    push: {
      default: { policy: 'run', limit: '6 / hours', windows: 'owner' },
      x: { policy: 'a', limit: 'none' },
    },
    subscribe: ['file:///a', 'db://*'],
    channel: true,
  },
  { url, oauth: {} },
  { url, oauth: { clientId: 'a', clientSecret: '${S}', callbackPort: 8765, scope: 'a b' } },
  { url, oauth: { callbackUrl: 'http://[::1]:1/x', clientRegistration: 'dcr' } },
  { url, oauth: { clientRegistration: 'cimd', callbackUrl: 'http://127.0.0.1:9/callback' } },
  { url, oauth: { clientName: 'Claude Code', authServerMetadataUrl: 'http://127.0.0.1/x' } },
  { url, auth: { provider: 'github' } },
]

const schema = JSON.parse(
  readFileSync(new URL('../schema/mcp.schema.json', import.meta.url), 'utf8'),
) as Record<string, unknown>
const valid = new Ajv({ formats: FORMATS, keywords: ['errorMessage'] }).compile(schema)

test.each(REFUSED)('refuses %j: %s', async (entry, reason, beyond) => {
  const place = createPlace()
  const state = await place.read({ user: { mcpServers: { bad: entry, good: { command: 'npx' } } } })
  expect(messages(state)).toEqual([`mcp server 'bad' failed: ${reason}`])
  expect(state.diagnostics[0]).toMatchObject({ severity: 'error', path: place.user, server: 'bad' })
  expect(state.servers.map(({ name }) => name)).toEqual(['good'])
  expect(valid({ mcpServers: { bad: entry } })).toBe(beyond !== undefined)
})

test.each(ACCEPTED)('accepts %j, and so does the schema', async (entry) => {
  const state = await createPlace().read({ user: { mcpServers: { good: entry } } })
  expect(messages(state)).toEqual([])
  expect(state.servers).toHaveLength(1)
  expect(valid({ $schema: 'x', mcpServers: { good: entry } })).toBe(true)
})

test.each([
  ['a b', 'a b'],
  ['', ''],
  ['ä', 'ä'],
  ['a/b', 'a/b'],
  ['\u001b[31mred\u202e', '?[31mred?'],
  ['x'.repeat(300) + '!', `${'x'.repeat(59)}…`],
])('refuses the name %j', async (name, shown) => {
  const state = await createPlace().read({
    user: { mcpServers: { [name]: { command: 'x' }, good: { command: 'x' } } },
  })
  expect(messages(state)).toEqual([
    `mcp server '${shown}' failed: invalid server name "${shown}" (use letters, digits, "_" and "-")`,
  ])
  expect(state.servers).toHaveLength(1)
  expect(valid({ mcpServers: { [name]: { command: 'x' } } })).toBe(false)
})
