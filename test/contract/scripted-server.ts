import type { Frame } from '@tapline/core'
import type { MemoryTransport } from '@tapline/core/testing'

type Params = Readonly<Record<string, unknown>>
type Answer = (server: ScriptedServer, request: Frame) => void

/** What a server does with single methods instead of what it should. */
export type Script = Readonly<Record<string, Answer>>

/** A legacy server without an SDK: it answers what a script says, and remembers every frame that it got. */
export class ScriptedServer {
  readonly frames: Frame[] = []
  /** What the client threw at whoever handed it a frame: a real transport would have died of it. */
  readonly thrown: unknown[] = []
  readonly #pipe: MemoryTransport
  readonly #script: Script
  #onFrame: (() => void)[] = []

  constructor(pipe: MemoryTransport, script: Script = {}) {
    this.#pipe = pipe
    this.#script = { ...MANNERS, ...script }
    pipe.onmessage = (frame) => this.#receive(frame)
    void pipe.start()
  }

  /** The methods that arrived, in order. */
  get methods(): readonly string[] {
    return this.frames.flatMap(({ method }) => method ?? [])
  }

  requests(method: string): readonly Frame[] {
    return this.frames.filter((frame) => frame.method === method)
  }

  /** Resolves with the first frame, past or future, that `matches`. */
  async got(matches: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(matches)
      if (found) return found
      await new Promise<void>((resolve) => this.#onFrame.push(resolve))
    }
  }

  gotRequest(method: string, count = 1): Promise<Frame> {
    return this.got((frame) => frame.method === method && this.requests(method).length >= count)
  }

  answer({ id }: Frame, result: unknown): void {
    this.#say({ id: id ?? null, result })
  }

  /** Answers with these members, whatever they are. */
  answerOddly({ id }: Frame, members: object): void {
    this.#say({ id: id ?? null, ...members })
  }

  refuse({ id }: Frame, code: number, message: string, data?: unknown): void {
    this.#say({ id: id ?? null, error: { code, message, ...(data === undefined ? {} : { data }) } })
  }

  push(method: string, params?: Params): void {
    this.#say({ method, ...(params ? { params } : {}) })
  }

  ask(id: string, method: string, params?: Params): void {
    this.#say({ id, method, ...(params ? { params } : {}) })
  }

  /** The process ends. */
  exit(): void {
    void this.#pipe.close()
  }

  #say(frame: Omit<Frame, 'jsonrpc'>): void {
    if (this.#pipe.closed) return
    this.#pipe.send({ jsonrpc: '2.0', ...frame }).catch((error: unknown) => this.thrown.push(error))
  }

  #receive(frame: Frame): void {
    this.frames.push(frame)
    for (const resolve of this.#onFrame.splice(0)) resolve()
    if (frame.method === undefined) return
    const answer = this.#script[frame.method]
    if (answer) answer(this, frame)
    else if (frame.id !== undefined) this.refuse(frame, -32601, `Method not found: ${frame.method}`)
  }
}

/** The text of a tool result. */
export const text = (value: string): Params => ({ content: [{ type: 'text', text: value }] })

const MANNERS: Script = {
  initialize: (server, request) =>
    server.answer(request, {
      protocolVersion: request.params?.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'scripted', version: '1.2.3' },
      instructions: 'Ask politely.',
    }),
  ping: (server, request) => server.answer(request, {}),
  'tools/list': (server, request) =>
    server.answer(request, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': (server, request) => {
    const { name, arguments: args } = request.params as {
      readonly name: string
      readonly arguments: { readonly text?: string }
    }
    if (name === 'echo') server.answer(request, text(args.text ?? ''))
    else if (name !== 'silent') server.refuse(request, -32602, 'These arguments never please.')
  },
}
