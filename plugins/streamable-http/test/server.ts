import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Recorder } from './recorder.ts'

/** A JSON-RPC message as it came in. */
export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** One request, with all that a test wants to know and the means to answer it. */
export interface Incoming {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Message | undefined
  readonly response: ServerResponse
  /** Resolves when the client has hung up or the answer is complete. */
  readonly closed: Promise<void>
  json(value: unknown, status?: number, headers?: Record<string, string>): void
  result(value: unknown, headers?: Record<string, string>): void
  status(code: number, body?: string, headers?: Record<string, string>): void
  /** Begins an event stream. */
  events(headers?: Record<string, string>): ServerResponse
}

/** Answers one request; true when it did. */
export type Handler = (incoming: Incoming) => boolean | undefined

/** A real HTTP server on 127.0.0.1 that remembers what it was asked. */
export class TestServer implements AsyncDisposable {
  readonly requests = new Recorder<Incoming>()
  handle: Handler
  #server: ReturnType<typeof createServer> | undefined
  #port = 0

  constructor(handle: Handler) {
    this.handle = handle
  }

  static async start(handle: Handler): Promise<TestServer> {
    const server = new TestServer(handle)
    await server.up()
    return server
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get url(): string {
    return `${this.origin}/mcp`
  }

  /** Listens, again on the same port. */
  async up(): Promise<void> {
    const server = createServer((request, response) => {
      void receive(request, response).then((incoming) => {
        this.requests.push(incoming)
        if (this.handle(incoming) !== true) incoming.status(500)
      })
    })
    this.#server = server
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
  }

  /** Closes the port and breaks every connection. */
  async down(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    server?.closeAllConnections()
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())))
  }

  all(method: string): readonly Incoming[] {
    return this.requests.items.filter((incoming) => incoming.method === method)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down()
  }
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<Incoming> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const body = text === '' ? undefined : (JSON.parse(text) as Message)
  const status = (code: number, content?: string, headers: Record<string, string> = {}): void =>
    void response.writeHead(code, headers).end(content)
  const json = (value: unknown, code = 200, headers: Record<string, string> = {}): void =>
    status(code, JSON.stringify(value), { 'content-type': 'application/json', ...headers })
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    body,
    response,
    closed: new Promise((resolve) => response.once('close', () => resolve())),
    json,
    result: (value, headers) => json({ jsonrpc: '2.0', id: body?.id, result: value }, 200, headers),
    status,
    events: (headers = {}) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
      response.flushHeaders()
      return response
    },
  }
}
