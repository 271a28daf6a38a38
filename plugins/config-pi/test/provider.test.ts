import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectRequest, type Host, type ServerSpec, type ServerView, TaplineError } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { configPi, providerOf } from '../src/index.ts'
import { createPlace, messages } from './place.ts'

const URL_OF_HUB = 'https://hub.example.com/mcp'
const ENTRY = { url: URL_OF_HUB, auth: { provider: 'radius' } }

interface Sent {
  readonly url: string
  readonly method: string
  readonly authorization: string | null
}

/** A server of that entry about to be connected, and what would leave this machine. */
interface Connecting {
  readonly request: ConnectRequest
  readonly sent: readonly Sent[]
  readonly send: NonNullable<ConnectRequest['fetch']>
  readonly agentDir: string
}

interface Options {
  readonly entry?: object
  readonly host?: Partial<Host>
  /** What the server answers to requests with this header. */
  readonly answer?: (authorization: string | null) => Response
  readonly spec?: Partial<ServerSpec>
}

async function connecting(options: Options = {}): Promise<Connecting> {
  const { entry = ENTRY, host = {}, answer = () => new Response('{}'), spec = {} } = options
  const [server] = (await createPlace().read({ user: { mcpServers: { hub: entry } } })).servers
  const agentDir = mkdtempSync(join(tmpdir(), 'provider-'))
  const { kernel, dispose } = await testKernel(configPi(), {
    host: { paths: { cwd: '/nowhere', home: '/nowhere', agentDir, loopsDir: agentDir }, ...host },
  })
  onTestFinished(async () => {
    await dispose()
    rmSync(agentDir, { recursive: true })
  })
  const sent: Sent[] = []
  const request: ConnectRequest = {
    server: { ...server!, ...spec },
    transport: spec.transport ?? server!.transport,
    env: {},
    headers: {},
    cwd: '/nowhere',
    attempt: 1,
    signal: new AbortController().signal,
    secrets: new Set(),
    fetch: async (url, init) => {
      const authorization = new Headers(init.headers).get('authorization')
      sent.push({ url: url.href, method: init.method ?? 'GET', authorization })
      return answer(authorization)
    },
    streamableHttp: () => Promise.reject(new Error('not here')),
    error: (code, message, details) => new TaplineError(code, message, details),
  }
  await kernel.hooks.connect.promise(request)
  return { request, sent, send: request.fetch!, agentDir }
}

const post = (headers: Record<string, string> = {}): RequestInit => ({ method: 'POST', body: '{}', headers })
const tokens = (...values: (string | undefined)[]): Partial<Host> => {
  const asked = vi.fn<(provider: string) => Promise<string | undefined>>()
  for (const value of values) asked.mockResolvedValueOnce(value)
  return { providerToken: asked }
}

test('each request carries the token that the provider has at that moment', async () => {
  const host = tokens('first', 'second')
  const { send, sent, request } = await connecting({ host })
  await send(new URL(URL_OF_HUB), post())
  await send(new URL(`${URL_OF_HUB}/moved`), post())
  expect(sent.map(({ authorization }) => authorization)).toEqual(['Bearer first', 'Bearer second'])
  expect(host.providerToken).toHaveBeenCalledWith('radius')
  // It is never shown, in whatever the server says.
  expect([...request.secrets!]).toEqual(['first', 'second'])
})

test('it goes before a header of the entry, and without one that header stays', async () => {
  const entry = { ...ENTRY, headers: { Authorization: 'Bearer own' } }
  const { send, sent } = await connecting({ entry, host: tokens('first', undefined) })
  await send(new URL(URL_OF_HUB), post({ Authorization: 'Bearer own' }))
  await send(new URL(URL_OF_HUB), post({ Authorization: 'Bearer own' }))
  expect(sent.map(({ authorization }) => authorization)).toEqual(['Bearer first', 'Bearer own'])
})

test('nothing goes to another origin than that of the entry', async () => {
  const { send, sent } = await connecting({ host: tokens('first', 'second', 'third', 'fourth') })
  for (const url of ['http://hub.example.com/mcp', 'https://hub.example.com:8443/mcp', 'https://evil.test/'])
    await send(new URL(url), post())
  expect(sent.map(({ authorization }) => authorization)).toEqual([null, null, null])
})

test('another address that a plugin has put in does not get it', async () => {
  const { request, send, sent } = await connecting({ host: tokens('first') })
  request.transport = { ...request.transport, url: 'https://proxy.test/mcp' } as ConnectRequest['transport']
  await send(new URL('https://proxy.test/mcp'), post())
  expect(sent).toMatchObject([{ authorization: null }])
})

test('the end of a session carries the last one, and asks for none', async () => {
  const host = tokens('first')
  const { send, sent } = await connecting({ host })
  await send(new URL(URL_OF_HUB), post())
  await send(new URL(URL_OF_HUB), { method: 'DELETE' })
  expect(sent[1]).toMatchObject({ method: 'DELETE', authorization: 'Bearer first' })
  expect(host.providerToken).toHaveBeenCalledTimes(1)
})

test.each([
  ['nobody is signed in', tokens(undefined)],
  ['the look-up fails', { providerToken: () => Promise.reject(new Error('secret words')) }],
  ['nobody knows', {}],
  ['the token is refused', tokens('old-token')],
])('where %s, the server is asked and it is said how to sign in', async (what, host) => {
  const { send, sent } = await connecting({ host, answer: () => new Response('secret', { status: 401 }) })
  const error: unknown = await send(new URL(URL_OF_HUB), post()).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    code: 'AUTH_FAILED',
    message: 'MCP server "hub" requires sign-in. Run /login radius to sign in.',
    advice: 'In a shell: pi auth login radius',
    data: { status: 401, signIn: true },
  })
  expect(JSON.stringify([error, String(error)])).not.toMatch(/secret|old-token/)
  expect(sent).toMatchObject([{ authorization: what === 'the token is refused' ? 'Bearer old-token' : null }])
})

test('a refusal that is no matter of signing in is handed on', async () => {
  const { send } = await connecting({ host: tokens('t'), answer: () => new Response('', { status: 403 }) })
  expect((await send(new URL(URL_OF_HUB), post())).status).toBe(403)
})

test('a token that cannot stand in a header is not sent, and not quoted', async () => {
  const { send, sent } = await connecting({ host: tokens('zq-secret\nx: y') })
  const error: unknown = await send(new URL(URL_OF_HUB), post()).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'AUTH_FAILED', data: { signIn: true } })
  expect(String(error)).not.toContain('zq-secret')
  expect(sent).toEqual([])
})

test('who does not want to wait for a renewal need not', async () => {
  const { send, sent } = await connecting({ host: { providerToken: () => new Promise(() => undefined) } })
  const abort = new AbortController()
  const asked = send(new URL(URL_OF_HUB), { ...post(), signal: abort.signal })
  abort.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
  await expect(send(new URL(URL_OF_HUB), { ...post(), signal: abort.signal })).rejects.toThrow('enough')
  expect(sent).toEqual([])
})

test.each([
  ['of a project', { source: { label: 'x', scope: 'project' } as const }],
  ['over plain http', { transport: httpTo('http://hub.example.com/mcp') }],
  ['whose address is no literal', { transport: httpTo('https://${HOST}/mcp') }],
])('an entry %s that came by another way is refused', async (_, spec) => {
  const host = { ...tokens('first'), env: { HOST: 'hub.example.com' } }
  await expect(connecting({ spec, host })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'auth.provider is not allowed in this entry.',
  })
})

test('servers without it, and those of other dialects, are not touched', async () => {
  const host = tokens('first', 'second')
  const plain = await connecting({ entry: { url: URL_OF_HUB }, host })
  await plain.send(new URL(URL_OF_HUB), post())
  const other = await connecting({ host, spec: { dialect: 'mcp.toml' } })
  await other.send(new URL(URL_OF_HUB), post())
  expect([...plain.sent, ...other.sent].map(({ authorization }) => authorization)).toEqual([null, null])
  expect(host.providerToken).not.toHaveBeenCalled()
})

test('a project may not write it, whatever else its entry says', async () => {
  for (const entry of [ENTRY, { url: 0, command: 'x', auth: { provider: 'radius' } }]) {
    const state = await createPlace().read({
      user: { mcpServers: { hub: { url: URL_OF_HUB } } },
      project: { mcpServers: { hub: entry } },
    })
    expect(messages(state).join()).toContain('auth is only allowed in the global mcp.json')
    expect(state.servers.map(({ transport }) => providerOf(transport))).toEqual([undefined])
  }
  const state = await createPlace().read({
    user: { mcpServers: { hub: ENTRY } },
    project: { mcpServers: { hub: { exposure: 'direct' } } },
  })
  expect(state.servers.map(({ transport }) => providerOf(transport))).toEqual(['radius'])
})

/** A server of the session, as the host shows it. */
function viewOf(reconnect: () => Promise<void>, more: Partial<ServerSpec> = {}): ServerView {
  const spec = { enabled: true, transport: httpTo(URL_OF_HUB), ...more }
  return { connected: false, reconnect, spec } as unknown as ServerView
}

test.each([
  ['one that is switched off', { enabled: false }],
  ['one that wants another credential by now', { transport: { ...httpTo(URL_OF_HUB), extra: {} } }],
  ['one that another project has', undefined],
])('a sign-in connects no other server of that name: %s', async (_, spec) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const reconnect = vi.fn<() => Promise<void>>(() => Promise.resolve())
  const server = () => (spec ? viewOf(reconnect, spec) : undefined)
  const host = { ...tokens('old', 'new', 'new'), server }
  const { send } = await connecting({ host, answer: () => new Response('', { status: 401 }) })
  await send(new URL(URL_OF_HUB), post()).catch(() => undefined)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(reconnect).not.toHaveBeenCalled()
  // Nothing is looked for any more.
  expect(vi.getTimerCount()).toBe(0)
})

test('as soon as somebody has signed in, the server is connected again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  let token: string | undefined = 'old'
  const reconnect = vi.fn<() => Promise<void>>(() => Promise.resolve())
  const view = viewOf(reconnect)
  const providerToken = vi.fn<(provider: string) => Promise<string | undefined>>(() => Promise.resolve(token))
  const answer = (sent: string | null) => new Response('', { status: sent === 'Bearer new' ? 200 : 401 })
  const { send, agentDir } = await connecting({ host: { providerToken, server: () => view }, answer })
  const signedIn = async (next: string): Promise<void> => {
    token = next
    writeFileSync(join(agentDir, 'auth.json'), JSON.stringify({ token, padding: 'x'.repeat(reads++) }))
    for (let second = 0; second < 3; second++) await vi.advanceTimersByTimeAsync(1_000)
  }
  let reads = 0
  await send(new URL(URL_OF_HUB), post()).catch(() => undefined)
  // What was renewed for another provider is no reason; where nothing changes, nothing is looked up.
  await signedIn('old')
  const asked = providerToken.mock.calls.length
  await vi.advanceTimersByTimeAsync(10_000)
  expect(providerToken).toHaveBeenCalledTimes(asked)
  expect(reconnect).not.toHaveBeenCalled()
  await signedIn('new')
  expect(reconnect).toHaveBeenCalledTimes(1)
  // It works: later changes are none of its business.
  await send(new URL(URL_OF_HUB), post())
  await signedIn('newer')
  expect(reconnect).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})

function httpTo(url: string): ServerSpec['transport'] {
  return {
    type: 'streamable-http',
    url,
    headers: {},
    sseIdleTimeoutMs: 1,
    bodyCapBytes: 1,
    extra: { auth: { provider: 'radius' } },
  }
}
