import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ConnectRequest,
  createKernel,
  type HttpTransportSpec,
  type ServerSpec,
  TaplineError,
} from '@tapline/core'
import { testHost } from '@tapline/core/testing'
import { onTestFinished } from 'vitest'
import { oauth, type SignInPrompt, type SignIns } from '../src/index.ts'

/** An answer: a status, JSON or text, and headers. */
export interface Answer {
  readonly status?: number
  readonly json?: unknown
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that a peer received. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly form: URLSearchParams
  readonly body: string
}

type Handler = (request: Received, origin: string) => Answer | undefined | Promise<Answer | undefined>

/** An HTTP server of the test; what its handler does not answer is 404. */
export interface Peer {
  readonly origin: string
  readonly received: readonly Received[]
  /** Requests to this path. */
  to(path: string): Received[]
  handle: Handler
}

export async function startPeer(handle: Handler): Promise<Peer> {
  const received: Received[] = []
  const server: Server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
      const url = new URL(request.url ?? '/', peer.origin)
      const seen = {
        method: request.method ?? '',
        path: url.pathname,
        url,
        headers: request.headers,
        form: new URLSearchParams(body),
        body,
      }
      received.push(seen)
      const {
        status = 200,
        json,
        text = json === undefined ? '' : JSON.stringify(json),
        headers = {},
      } = (await peer.handle(seen, peer.origin)) ?? { status: 404 }
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const peer: Peer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    to: (path) => received.filter((request) => request.path === path),
    handle,
  }
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return peer
}

/** What an authorization server says and does; the test changes any of it. */
export interface Authority {
  readonly peer: Peer
  metadata: Record<string, unknown>
  /** Answers to `/token`, by grant type. */
  token: (form: URLSearchParams) => Answer | Promise<Answer>
  register: (body: Record<string, unknown>) => Answer
  /** Answers instead of everything else, where it answers. */
  instead: Handler | undefined
}

/** A scripted authorization server: as well-behaved as the test leaves it. */
export async function startAuthority(): Promise<Authority> {
  const peer = await startPeer((request) => answer(request))
  const { origin } = peer
  let counted = 0
  const authority: Authority = {
    peer,
    metadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    },
    token: () => {
      counted++
      return {
        json: {
          access_token: `access-${counted}`,
          token_type: 'Bearer',
          expires_in: 600,
          refresh_token: `refresh-${counted}`,
        },
      }
    },
    register: (body) => ({ status: 201, json: { ...body, client_id: 'registered-1' } }),
    instead: undefined,
  }
  async function answer(request: Received): Promise<Answer | undefined> {
    const other = await authority.instead?.(request, origin)
    if (other) return other
    if (request.path === '/.well-known/oauth-authorization-server') return { json: authority.metadata }
    if (request.path === '/register')
      return authority.register(JSON.parse(request.body) as Record<string, unknown>)
    return request.path === '/token' ? authority.token(request.form) : undefined
  }
  return authority
}

/** An MCP server that takes some tokens; `refusal` is how it refuses the others. */
export interface Protected {
  readonly peer: Peer
  readonly url: string
  readonly takes: Set<string>
  refusal: (request: Received) => Answer
  /** Its metadata (RFC 9728); undefined for none. */
  resource: Record<string, unknown> | undefined
}

export async function startProtected(authority?: Authority): Promise<Protected> {
  const takes = new Set<string>()
  const peer = await startPeer((request) => {
    if (request.path === '/.well-known/oauth-protected-resource/mcp')
      return server.resource === undefined ? undefined : { json: server.resource }
    if (request.path !== '/mcp') return undefined
    const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    return token !== undefined && takes.has(token) ? { json: { token } } : server.refusal(request)
  })
  const server: Protected = {
    peer,
    url: `${peer.origin}/mcp`,
    takes,
    refusal: () => ({ status: 401, headers: { 'www-authenticate': 'Bearer' } }),
    resource: authority && {
      resource: `${peer.origin}/mcp`,
      authorization_servers: [authority.peer.origin],
    },
  }
  return server
}

/** The name of a server that has been switched off since it was connected. */
export const SWITCHED_OFF = 'off'

/** A process with the plugin in it. */
export interface Process {
  readonly signIns: SignIns
  readonly warnings: readonly string[]
  readonly reconnected: readonly string[]
  /** Runs the `connect` hook, as a supervised session would. */
  connect(spec: ServerSpec, more?: Partial<ConnectRequest>): Promise<ConnectRequest>
  dispose(): Promise<void>
}

/** An agent directory. */
export interface Place {
  readonly agentDir: string
  readonly path: string
  /** The stored entries. */
  stored(): Record<string, Record<string, unknown> & { tokens?: Record<string, unknown> }>
  store(entries: unknown, mode?: number): void
  start(env?: Readonly<Record<string, string>>): Promise<Process>
}

export function createPlace(): Place {
  const agentDir = mkdtempSync(join(tmpdir(), 'tapline-oauth-'))
  onTestFinished(() => rmSync(agentDir, { recursive: true, force: true }))
  const path = join(agentDir, 'mcp-auth.json')
  return {
    agentDir,
    path,
    stored: () =>
      existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ReturnType<Place['stored']>) : {},
    store: (entries, mode = 0o600) => {
      writeFileSync(path, typeof entries === 'string' ? entries : JSON.stringify(entries))
      chmodSync(path, mode)
    },
    start: (env = {}) => startProcess(agentDir, env),
  }
}

async function startProcess(agentDir: string, env: Readonly<Record<string, string>>): Promise<Process> {
  const warnings: string[] = []
  const reconnected: string[] = []
  let signIns: SignIns | undefined
  const host = testHost({
    env,
    paths: { cwd: agentDir, home: agentDir, agentDir, loopsDir: join(agentDir, 'loops') },
    server: (name) => ({
      spec: { ...specOf(name, 'http://127.0.0.1'), enabled: name !== SWITCHED_OFF },
      connected: false,
      capabilities: undefined,
      instructions: undefined,
      notify: async () => undefined,
      reconnect: async () => void reconnected.push(name),
    }),
  })
  const kernel = await createKernel({
    plugins: [oauth({ onReady: (ready) => (signIns = ready) })],
    host,
    report: (error) => warnings.push(error.toString()),
    log: { info: () => undefined, warn: (message) => warnings.push(message) },
  })
  let disposed: Promise<void> | undefined
  const dispose = (): Promise<void> => (disposed ??= kernel.dispose())
  onTestFinished(dispose)
  return {
    signIns: signIns as SignIns,
    warnings,
    reconnected,
    connect: async (spec, more = {}) => {
      const request: ConnectRequest = {
        server: spec,
        transport: spec.transport,
        env: {},
        headers: {},
        cwd: agentDir,
        attempt: 1,
        signal: new AbortController().signal,
        secrets: new Set(),
        streamableHttp: () => Promise.reject(new Error('not here')),
        error: (code, message, details) => new TaplineError(code, message, details),
        ...more,
      }
      await kernel.hooks.connect.promise(request)
      return request
    },
    dispose,
  }
}

/** An entry for an HTTP server. */
export function specOf(name: string, url: string, transport: Partial<HttpTransportSpec> = {}): ServerSpec {
  return {
    name,
    dialect: 'mcp.json',
    source: { label: 'mcp.json', scope: 'user' },
    enabled: true,
    transport: {
      type: 'streamable-http',
      url,
      headers: {},
      sseIdleTimeoutMs: 1_000,
      bodyCapBytes: 1_000,
      ...transport,
    },
    requestTimeoutMs: 1_000,
    reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 1 },
    naming: 'mcp',
    exposure: 'direct',
    toolExposure: {},
    results: { maxBytes: 1, overflow: 'temporary-file' },
    push: {},
  }
}

/** One request of a connection. */
export function ask(request: ConnectRequest, url: string, init: RequestInit = {}): Promise<Response> {
  return (request.fetch ?? fetch)(new URL(url), { method: 'POST', body: '{}', ...init })
}

/** What a promise is rejected with. */
export async function thrownBy(work: Promise<unknown>): Promise<TaplineError> {
  try {
    await work
  } catch (thrown) {
    return thrown as TaplineError
  }
  throw new Error('It was not rejected.')
}

/** A browser that follows the address at once to the callback, with `change` applied to what it brings there. */
export function browserWith(change: (callback: URL) => URL | undefined = (url) => url): SignInPrompt & {
  readonly opened: URL[]
  readonly pages: { readonly status: number; readonly text: string }[]
} {
  const opened: URL[] = []
  const pages: { status: number; text: string }[] = []
  return {
    opened,
    pages,
    show: (address) => {
      const url = new URL(address)
      opened.push(url)
      const callback = new URL(url.searchParams.get('redirect_uri') ?? '')
      callback.searchParams.set('code', 'code-1')
      callback.searchParams.set('state', url.searchParams.get('state') ?? '')
      const target = change(callback)
      if (!target) return
      void fetch(target).then(
        async (response) => pages.push({ status: response.status, text: await response.text() }),
        () => undefined,
      )
    },
  }
}

export const forever = (): AbortSignal => new AbortController().signal
