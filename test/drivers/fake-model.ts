import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from './chat.ts'
import type { ReceivedRequest } from './chat.ts'
import { within } from './processes.ts'

/** What the model answers once. */
export interface Turn {
  readonly text?: string
  readonly toolCalls?: readonly ToolCall[]
  readonly delayMs?: number
  readonly chunkDelayMs?: number
  /** Keeps the stream open after the text until `release(name)`. */
  readonly hold?: string
  /** Answers an HTTP error in place of a stream. */
  readonly status?: number
  readonly error?: string
  /** Takes this turn only for a request that it accepts; the first acceptable turn of the queue is used. */
  readonly when?: (request: ReceivedRequest) => boolean
}

/** One tool call of a scripted turn. */
export interface ToolCall {
  readonly name: string
  readonly args?: unknown
  readonly id?: string
}

/** A model that answers from a script, else from directives in the last user message, else with an echo. */
export interface FakeModel extends AsyncDisposable {
  /** The base address, ending in `/v1`. */
  readonly url: string
  requests(): readonly ReceivedRequest[]
  script(turns: readonly Turn[]): void
  /** Resolves when a turn with this hold has sent its text and keeps its stream open. */
  held(name: string, ms?: number): Promise<void>
  /** Lets a held turn end, also one that has not been reached yet. */
  release(name: string): void
  /** Forgets the script and the requests, and releases all that is held. */
  reset(): void
  /** Resolves with the first request, past or future, that the predicate accepts. */
  waitForRequest(predicate?: (request: ReceivedRequest) => boolean, ms?: number): Promise<ReceivedRequest>
  close(): Promise<void>
}

/** Options of the fake model. */
export interface FakeModelOptions {
  readonly port?: number
  /** Answers what the script does not; nothing means the directives and the echo. */
  readonly otherwise?: (request: ReceivedRequest) => Turn | undefined
}

/** Starts a chat-completions server; the directives are `CALL <tool> <json>`, `SLOW <n>` and `HOLD <name>`. */
export async function startFakeModel({ port = 0, otherwise }: FakeModelOptions = {}): Promise<FakeModel> {
  let queue: Turn[] = []
  let requests: ReceivedRequest[] = []
  let count = 0
  const waiting = new Set<() => void>()
  const holds = createHolds()

  function take(request: ReceivedRequest): Turn {
    const index = queue.findIndex((turn) => turn.when?.(request) ?? true)
    const [turn] = index < 0 ? [] : queue.splice(index, 1)
    return turn ?? otherwise?.(request) ?? directive(request)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await bodyOf(request)
    if (!request.url?.endsWith('/chat/completions')) {
      response.writeHead(404).end('{}')
      return
    }
    const { headers } = request
    const received: ReceivedRequest = {
      id: ++count,
      at: performance.now(),
      headers,
      body: JSON.parse(raw),
      raw,
    }
    response.once('close', () => (received.ended = response.writableFinished ? 'complete' : 'aborted'))
    const turn = take(received)
    requests.push(received)
    waiting.forEach((check) => check())
    if (turn.delayMs) await sleep(turn.delayMs)
    if (turn.status) {
      const error = { message: turn.error ?? 'scripted' }
      response.writeHead(turn.status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    } else await answer(response, received, turn, holds)
  }

  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, '127.0.0.1', resolve),
  )

  const close = async () => {
    holds.releaseAll()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: () => requests,
    script: (turns) => void queue.push(...turns),
    held: (name, ms = 20_000) =>
      within(holds.named(name).reached.promise, ms, () => `the model to hold "${name}"`),
    release: (name) => holds.named(name).free.resolve(),
    reset() {
      holds.releaseAll()
      queue = []
      requests = []
    },
    waitForRequest(predicate = () => true, ms = 20_000) {
      const found = Promise.withResolvers<ReceivedRequest>()
      const check = () => {
        const request = requests.find(predicate)
        if (request) found.resolve(request)
      }
      waiting.add(check)
      check()
      return within(
        found.promise,
        ms,
        () => `a model request; ${requests.length} came, the last: ${requests.at(-1)?.raw.slice(-500)}`,
      ).finally(() => waiting.delete(check))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Hold {
  readonly reached: PromiseWithResolvers<void>
  readonly free: PromiseWithResolvers<void>
}

type Holds = ReturnType<typeof createHolds>

/** Holds by name; one that has ended is forgotten, so that its name may serve again. */
function createHolds() {
  const holds = new Map<string, Hold>()
  return {
    named(name: string): Hold {
      const hold = holds.get(name) ?? {
        reached: Promise.withResolvers<void>(),
        free: Promise.withResolvers<void>(),
      }
      holds.set(name, hold)
      return hold
    },
    forget: (name: string) => holds.delete(name),
    releaseAll() {
      holds.forEach((hold) => hold.free.resolve())
      holds.clear()
    },
  }
}

function directive({ body }: ReceivedRequest): Turn {
  const last = body.messages.at(-1)
  const text = textOf(last?.content)
  if (last?.role === 'user') {
    const toolCalls = [...text.matchAll(/CALL (\S+) (\{.*\})$/gm)].map(([, name = '', args = '{}']) => ({
      name,
      args: JSON.parse(args) as unknown,
    }))
    if (toolCalls.length > 0) return { toolCalls }
    const slow = /SLOW (\d+)/.exec(text)
    if (slow)
      return {
        text: Array.from({ length: Number(slow[1]) }, (_, index) => `w${index} `).join(''),
        chunkDelayMs: 100,
      }
    const hold = /HOLD (\S+)/.exec(text)?.[1]
    if (hold !== undefined) return { text: `HELD ${hold}`, hold }
  }
  return { text: `ECHO[${last?.role}]: ${text.slice(0, 400)}` }
}

async function answer(
  response: ServerResponse,
  { id, body }: ReceivedRequest,
  turn: Turn,
  holds: Holds,
): Promise<void> {
  const base = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: 1, model: body.model }
  const event = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`)
  const send = (delta: unknown, finish: string | null = null) =>
    event({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  send({ role: 'assistant', content: '' })
  const chunks = turn.chunkDelayMs ? (turn.text?.match(/\S+\s*/g) ?? []) : turn.text ? [turn.text] : []
  for (const content of chunks) {
    if (response.closed) return
    send({ content })
    if (turn.chunkDelayMs) await sleep(turn.chunkDelayMs)
  }
  if (turn.hold !== undefined) {
    const hold = holds.named(turn.hold)
    hold.reached.resolve()
    await Promise.race([hold.free.promise, once(response, 'close')])
    holds.forget(turn.hold)
    if (response.closed) return
  }
  turn.toolCalls?.forEach((call, index) =>
    send({
      tool_calls: [
        {
          index,
          id: call.id ?? `call_${id}_${index}`,
          type: 'function',
          function: { name: call.name, arguments: JSON.stringify(call.args ?? {}) },
        },
      ],
    }),
  )
  send({}, turn.toolCalls?.length ? 'tool_calls' : 'stop')
  event({ ...base, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })
  response.end('data: [DONE]\n\n')
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
