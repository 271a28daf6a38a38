import type { ServerResponse } from 'node:http'
import { type Handler, type Incoming, TestServer } from './server.ts'

/** A small server of the sessions era: one tool, an event stream, and whatever a test puts before it. */
export class LegacyServer implements AsyncDisposable {
  readonly http: TestServer
  readonly sessions = new Set<string>()
  readonly streams = new Set<ServerResponse>()
  /** Asked first; true when it answered. */
  override: Handler = () => undefined
  #opened = 0

  private constructor(http: TestServer) {
    this.http = http
    http.handle = (incoming) => this.override(incoming) === true || this.#serve(incoming)
  }

  static async start(override?: Handler): Promise<LegacyServer> {
    const server = new LegacyServer(await TestServer.start(() => true))
    if (override) server.override = override
    return server
  }

  get url(): string {
    return this.http.url
  }

  /** The calls of one JSON-RPC method so far. */
  calls(method: string): readonly Incoming[] {
    return this.http.requests.items.filter(({ body }) => body?.method === method)
  }

  /** The n-th call of one JSON-RPC method, past or future. */
  called(method: string, nth = 1): Promise<Incoming> {
    return this.http.requests.find(({ body }) => body?.method === method, nth)
  }

  /** The n-th request with this HTTP method, past or future. */
  asked(method: 'GET' | 'DELETE', nth = 1): Promise<Incoming> {
    return this.http.requests.find((incoming) => incoming.method === method, nth)
  }

  /** Writes one event to every open stream. */
  push(method: string, id?: string): void {
    for (const stream of this.streams) stream.write(event({ jsonrpc: '2.0', method }, id))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.http.down()
  }

  #serve(incoming: Incoming): boolean {
    const { method, headers, body } = incoming
    const session = headers['mcp-session-id']
    const id = body?.id
    if (body?.method === 'server/discover') {
      incoming.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
    } else if (body?.method === 'initialize') {
      const opened = `session-${++this.#opened}`
      this.sessions.add(opened)
      incoming.result(INITIALIZED, { 'mcp-session-id': opened })
    } else if (!this.sessions.has(String(session))) {
      incoming.json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }, 404)
    } else if (method === 'DELETE') {
      this.sessions.delete(String(session))
      incoming.status(200)
    } else if (method === 'GET') {
      const stream = incoming.events()
      this.streams.add(stream)
      stream.once('close', () => this.streams.delete(stream))
    } else if (id === undefined) incoming.status(202)
    else if (body?.method === 'tools/list')
      incoming.result({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })
    else if (body?.method === 'tools/call') incoming.result(textResult('hello'))
    else incoming.result({})
    return true
  }
}

/** Answers one request. */
export type Answer = (incoming: Incoming) => void

/** A server whose tool calls are answered by `answer`. */
export function answeringCalls(answer: Answer): Promise<LegacyServer> {
  return LegacyServer.start((incoming) => {
    if (incoming.body?.method !== 'tools/call') return undefined
    answer(incoming)
    return true
  })
}

/** What `initialize` answers. */
const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'legacy', version: '1.0.0' },
}

/** A tool result of one text. */
export const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

/** One event of an event stream. */
export function event(message: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`
}
