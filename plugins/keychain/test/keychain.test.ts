import type {
  ConnectRequest,
  CredentialStore,
  Host,
  HttpTransportSpec,
  ServerSpec,
  TransportSpec,
} from '@tapline/core'
import { isTaplineError, TaplineError } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { keychain } from '../src/index.ts'

const REF = 'PI_MCP_TOKEN_HUB'

const http = (ref: string): HttpTransportSpec => ({
  type: 'streamable-http',
  url: 'https://example.com/mcp',
  headers: {},
  auth: { kind: 'bearer', ref },
  sseIdleTimeoutMs: 1,
  bodyCapBytes: 1,
})

function serverOf(transport: TransportSpec, scope: 'user' | 'project' | 'session' = 'user'): ServerSpec {
  return {
    name: 'hub',
    dialect: 'mcp.toml',
    source: { label: 'mcp.toml', scope },
    enabled: true,
    transport,
    requestTimeoutMs: 1,
    reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 1 },
    naming: 'original',
    exposure: 'direct',
    toolExposure: {},
    results: { maxBytes: 1, overflow: 'temporary-file' },
    push: {},
  }
}

async function connect(
  server: ServerSpec,
  host: Partial<Host>,
  headers: Record<string, string> = {},
  system: CredentialStore | false = false,
): Promise<ConnectRequest> {
  const { kernel, dispose } = await testKernel(keychain({ system }), { host })
  const request = requestOf(server, 1, headers)
  try {
    await kernel.hooks.connect.promise(request)
  } finally {
    await dispose()
  }
  return request
}

const requestOf = (
  server: ServerSpec,
  attempt: number,
  headers: Record<string, string> = {},
): ConnectRequest => ({
  server,
  transport: server.transport,
  env: {},
  headers,
  cwd: '/nowhere',
  attempt,
  signal: new AbortController().signal,
  streamableHttp: () => Promise.reject(new Error('not here')),
  error: (code, message, details) => new TaplineError(code, message, details),
})

async function failure(server: ServerSpec, host: Partial<Host>): Promise<TaplineError> {
  const thrown: unknown = await connect(server, host).catch((error: unknown) => error)
  if (!isTaplineError(thrown)) throw new Error('it connected')
  return thrown
}

const store = (label: string, values: Record<string, string>): CredentialStore => ({
  label,
  read: (ref) => values[ref],
})

test('the first store that has it wins, the environment comes last', async () => {
  const env = { [REF]: 'from-env' }
  const first = store('the keychain', {})
  const second = store('pi', { [REF]: 'from-store' })
  const third = store('other', { [REF]: 'from-other' })
  expect((await connect(serverOf(http(REF)), { env, credentials: [first, second, third] })).headers).toEqual({
    Authorization: 'Bearer from-store',
  })
  expect((await connect(serverOf(http(REF)), { env, credentials: [first] })).headers).toEqual({
    Authorization: 'Bearer from-env',
  })
  expect((await connect(serverOf(http(REF)), { env })).headers).toEqual({ Authorization: 'Bearer from-env' })
})

test('the operating system’s keychain is asked before all others, and only for servers that name a reference', async () => {
  const asked: string[] = []
  const system: CredentialStore = {
    label: 'the keychain',
    read: (ref) => (asked.push(ref), ref === REF ? 'from-keychain' : undefined),
  }
  const host = { env: { [REF]: 'from-env' }, credentials: [store('pi', { [REF]: 'x', hub: 'from-store' })] }
  const bearer = async (server: ServerSpec) => (await connect(server, host, {}, system)).headers.Authorization
  expect(await bearer(serverOf(http(REF)))).toBe('Bearer from-keychain')
  expect(await bearer(serverOf(http('hub')))).toBe('Bearer from-store')
  const { auth: _auth, ...bare } = http(REF)
  expect(await bearer(serverOf(bare))).toBeUndefined()
  expect(asked).toEqual([REF, 'hub'])
  await expect(connect(serverOf(http('hub'), 'project'), host, {}, system)).rejects.toMatchObject({
    code: 'AUTH_FAILED',
  })
  expect(asked).toEqual([REF, 'hub'])
})

test('a keychain that cannot be used is no error while another store has it, and one sentence when none has', async () => {
  const system: CredentialStore = {
    label: 'the keychain',
    read: () => Promise.reject(new Error('it is locked')),
  }
  const { headers } = await connect(serverOf(http(REF)), { env: { [REF]: 'x' } }, {}, system)
  expect(headers).toEqual({ Authorization: 'Bearer x' })
  await expect(connect(serverOf(http(REF)), {}, {}, system)).rejects.toMatchObject({
    code: 'CREDENTIAL_MISSING',
    message:
      'configured bearer credential was not found; asked: the keychain, the environment; the keychain: it is locked',
  })
})

test('a keychain that could not be used is not asked again by retries, but by the next first attempt', async () => {
  let locked = true
  let asked = 0
  const system: CredentialStore = {
    label: 'the keychain',
    read: () => {
      asked += 1
      return locked ? Promise.reject(new Error('it is locked')) : 'x'
    },
  }
  const { kernel, dispose } = await testKernel(keychain({ system }), {})
  const attempt = async (number: number): Promise<string | undefined> => {
    const request = requestOf(serverOf(http(REF)), number)
    await kernel.hooks.connect.promise(request).catch(() => undefined)
    return request.headers.Authorization
  }
  for (const number of [1, 2, 3]) expect(await attempt(number)).toBeUndefined()
  expect(asked).toBe(1)
  locked = false
  expect(await attempt(4)).toBeUndefined()
  expect(await attempt(1)).toBe('Bearer x')
  expect(await attempt(2)).toBe('Bearer x')
  expect(asked).toBe(3)
  await dispose()
})

test('a user’s file may name any credential of a store, the environment only for PI_MCP_TOKEN_*', async () => {
  const credentials = [store('pi', { hub: 'x' })]
  expect((await connect(serverOf(http('hub')), { credentials })).headers).toEqual({
    Authorization: 'Bearer x',
  })
  const error = await failure(serverOf(http('AWS_SECRET')), { credentials, env: { AWS_SECRET: 's3cret' } })
  expect(error).toMatchObject({
    code: 'CREDENTIAL_MISSING',
    message: 'configured bearer credential was not found; asked: pi',
  })
})

test.each([
  ['absent', {}],
  ['empty', { [REF]: '' }],
  ['blank', { [REF]: ' \n' }],
])('a credential that is %s is not found, and the message names no reference', async (_what, values) => {
  const error = await failure(serverOf(http(REF)), {
    credentials: [store('the keychain', values), store('pi', values)],
    env: values,
  })
  expect(error.code).toBe('CREDENTIAL_MISSING')
  expect(error.message).toBe(
    'configured bearer credential was not found; asked: the keychain, pi, the environment',
  )
  expect(error.place).toMatchObject({ plugin: 'keychain', hook: 'connect' })
  expect(String(error)).not.toContain(REF)
})

test('without any store there is still a sentence', async () => {
  expect((await failure(serverOf(http('hub')), {})).message).toBe(
    'configured bearer credential was not found; there is no store to ask',
  )
})

test('an empty value in one store leaves the next one to ask', async () => {
  const credentials = [store('a', { [REF]: '' }), store('b', { [REF]: 'x' })]
  expect((await connect(serverOf(http(REF)), { credentials })).headers).toEqual({ Authorization: 'Bearer x' })
})

test.each(['anthropic', 'hub', 'PI_MCP_TOKE', 'pi_mcp_token_hub', '', ' PI_MCP_TOKEN_HUB'])(
  'a project may not name %j, whatever has it',
  async (ref) => {
    const asked: string[] = []
    const spying: CredentialStore = {
      label: 'pi',
      read: (name) => (asked.push(name) > 0 ? 's3cret' : undefined),
    }
    const error = await failure(serverOf(http(ref), 'project'), {
      credentials: [spying],
      env: { [ref]: 's3cret' },
    })
    expect(error).toMatchObject({
      code: 'AUTH_FAILED',
      message: 'configured bearer credential was refused; a project may name only credentials of its own',
    })
    expect(asked).toEqual([])
  },
)

test('a project may name PI_MCP_TOKEN_*', async () => {
  const { headers } = await connect(serverOf(http(REF), 'project'), {
    credentials: [store('pi', { [REF]: 'x' })],
  })
  expect(headers).toEqual({ Authorization: 'Bearer x' })
})

test.each([
  ['anthropic', 'user'],
  [' Anthropic ', 'user'],
  ['anthropic', 'session'],
  ['PI_MCP_TOKEN_ODD', 'project'],
] as const)('the credential %j of a model provider is never sent (%s)', async (ref, scope) => {
  const isModelProvider = (name: string): boolean => ['anthropic', 'PI_MCP_TOKEN_ODD'].includes(name)
  const error = await failure(serverOf(http(ref), scope), {
    isModelProvider,
    credentials: [store('pi', { [ref]: 'sk-x' })],
  })
  expect(error).toMatchObject({
    code: 'AUTH_FAILED',
    message: 'configured bearer credential was refused; it is that of a model provider',
  })
})

test.each(['a\nb', 'a\r\nX-Evil: b', 'a\u0000', 'a\tb', 'ä', '☃', 'x\n'])(
  'the value %j is refused without being shown',
  async (value) => {
    const error = await failure(serverOf(http(REF)), { credentials: [store('pi', { [REF]: value })] })
    expect(error).toMatchObject({
      code: 'AUTH_FAILED',
      message:
        'configured bearer credential in pi cannot be sent; it holds a line break or another character that is not allowed',
    })
  },
)

test('a store that fails is passed over, and its sentence told without the reference when nothing else has it', async () => {
  const locked: CredentialStore = {
    label: 'the keychain',
    read: (ref) => Promise.reject(new Error(`${ref} is locked`)),
  }
  const odd: CredentialStore = {
    label: 'odd',
    read: () => {
      // oxlint-disable-next-line typescript/only-throw-error -- a store of somebody else
      throw 's3cret'
    },
  }
  const found = await connect(serverOf(http(REF)), { credentials: [locked, odd], env: { [REF]: 'x' } })
  expect(found.headers).toEqual({ Authorization: 'Bearer x' })
  const error = await failure(serverOf(http(REF)), { credentials: [locked, odd] })
  expect(error.message).toBe(
    'configured bearer credential was not found; asked: the keychain, odd, the environment; the keychain: … is locked; odd: it failed',
  )
})

test('the credential is looked up anew at each connect', async () => {
  const values: Record<string, string> = {}
  const credentials = [store('pi', values)]
  expect((await failure(serverOf(http(REF)), { credentials })).code).toBe('CREDENTIAL_MISSING')
  values[REF] = 'first'
  expect((await connect(serverOf(http(REF)), { credentials })).headers.Authorization).toBe('Bearer first')
  values[REF] = 'second'
  expect((await connect(serverOf(http(REF)), { credentials })).headers.Authorization).toBe('Bearer second')
})

test('an Authorization header in other letters is replaced, not doubled', async () => {
  const { headers } = await connect(
    serverOf(http(REF)),
    { env: { [REF]: 'x' } },
    { authorization: 'Basic y', Other: 'z' },
  )
  expect(headers).toEqual({ Authorization: 'Bearer x', Other: 'z' })
})

test('servers without a reference, and other transports, are left alone', async () => {
  const { auth: _auth, ...bare } = http(REF)
  const stdio: TransportSpec = { type: 'stdio', command: 'x', args: [], env: {}, inheritEnv: true }
  for (const transport of [bare, stdio, { type: 'custom', name: 'x', config: {} } as const]) {
    const request = await connect(serverOf(transport), { env: { [REF]: 'x' } })
    expect([request.headers, request.env, request.transport]).toEqual([{}, {}, transport])
  }
})

test('whatever is stored, an error never shows the value or the reference', async () => {
  // Marks that stand in no sentence of ours.
  const text = fc.string({ unit: 'binary' })
  await fc.assert(
    fc.asyncProperty(
      text,
      text,
      fc.constantFrom('user', 'project'),
      fc.boolean(),
      async (name, content, scope, prefixed) => {
        const ref = `${prefixed ? 'PI_MCP_TOKEN_' : ''}§${name}§`
        const value = `«${content}»`
        const host = {
          credentials: [store('pi', { [ref]: content === '' ? '' : value })],
          env: { [ref]: value },
        }
        const outcome: unknown = await connect(serverOf(http(ref), scope), host).catch(
          (error: unknown) => error,
        )
        expect(isTaplineError(outcome)).toBe(true)
        const { message, advice } = outcome as TaplineError
        expect(`${message} ${advice}`).not.toMatch(/[§«»]/)
      },
    ),
    { numRuns: 200 },
  )
})
