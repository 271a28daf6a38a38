import type { ChildProcess } from 'node:child_process'
import type { Parsed } from './chat.ts'
import { preparePi, spawnPi } from './pi-process.ts'
import type { PiOptions } from './pi-process.ts'
import { exitOf, within } from './processes.ts'
import type { Exit } from './processes.ts'
import type { Scratch } from './scratch.ts'

/** A record that pi wrote which is no answer to a command; `at` is in milliseconds since pi was spawned. */
export interface PiEvent {
  readonly type: string
  readonly at: number
  readonly [key: string]: Parsed
}

/** A dialog that an extension opened; `method` is select, confirm, input or editor. */
export interface UiRequest extends PiEvent {
  readonly method: string
  readonly title?: string
  readonly message?: string
  readonly options?: readonly string[]
}

/** Answers dialogs: a text is the value, a boolean the confirmation, nothing cancels. */
export type UiHandler = (
  request: UiRequest,
) => string | boolean | undefined | Promise<string | boolean | undefined>

/** Options of a pi in RPC mode. */
export interface RpcOptions extends PiOptions {
  readonly onUi?: UiHandler
  /** How long pi may take until it answers for the first time. */
  readonly startMs?: number
}

/** An answer to a command. */
export interface PiResponse {
  readonly success: boolean
  readonly error?: string
  readonly data?: Parsed
}

/** The real pi in RPC mode; every wait and command is rejected as soon as pi ends. */
export interface Pi extends AsyncDisposable {
  readonly pid: number
  readonly scratch: Scratch
  readonly events: readonly PiEvent[]
  /** Lines on stdout that are no records: there should be none. */
  readonly noise: readonly string[]
  readonly stderr: string
  readonly exited: Promise<Exit>
  /** Sends a command and returns pi's answer, also when that is a refusal. */
  send(type: string, fields?: object): Promise<PiResponse>
  /** The first event that the predicate accepts, from now on, or among all those from index `from` of `events`. */
  waitFor(predicate: (event: PiEvent) => boolean, ms?: number, from?: number): Promise<PiEvent>
  /** Sends a prompt, and waits until the run it starts, if any, has settled; a refusal is thrown. */
  prompt(message: string, fields?: object, ms?: number): Promise<PiResponse>
  /** Runs a slash command of an extension and returns what it notified of; throws if there is no such command. */
  command(line: string): Promise<string[]>
  /** Replaces the handler of dialogs. */
  answer(handler: UiHandler): void
  /** The texts notified since index `from` of `events`. */
  notices(from?: number): string[]
  /** Closes stdin and waits for an orderly end, else kills pi; disposes the scratch directory if pi made it. */
  close(ms?: number): Promise<Exit>
  /** Sends a signal and waits for the end; `close` is still due. */
  kill(signal?: NodeJS.Signals): Promise<Exit>
}

/** Starts the real pi in RPC mode and resolves when it answers; rejects, with its stderr, if it ends before that. */
export async function startPi(options: RpcOptions = {}): Promise<Pi> {
  const started = performance.now()
  const prepared = preparePi(options, ['--mode', 'rpc'])
  const child = spawnPi(prepared, 'pipe')
  const exited = exitOf(child)
  const events: PiEvent[] = []
  const noise: string[] = []
  const answers = new Map<string, (response: PiResponse) => void>()
  const listeners = new Set<(event: PiEvent) => void>()
  let stderr = ''
  let count = 0
  let handler: UiHandler = options.onUi ?? (() => undefined)

  const write = (record: object) => child.stdin?.write(`${JSON.stringify(record)}\n`)
  const ended = exited.then(({ code, signal }) => {
    throw new Error(`pi ended with ${signal ?? code}; stderr: ${stderr.slice(-1500)}`)
  })
  // Whoever waits sees the rejection; when nobody does it is no fault.
  ended.catch(() => {})
  const soon = <T>(promise: Promise<T>, ms: number, what: string) =>
    within(
      Promise.race([promise, ended]),
      ms,
      () => `${what}; events: ${summary(events)}; stderr: ${stderr.slice(-800)}`,
    )

  async function dialog(request: UiRequest): Promise<void> {
    let answer: string | boolean | undefined
    try {
      answer = await handler(request)
    } finally {
      const reply =
        typeof answer === 'string'
          ? { value: answer }
          : typeof answer === 'boolean'
            ? { confirmed: answer }
            : { cancelled: true }
      write({ type: 'extension_ui_response', id: request.id, ...reply })
    }
  }

  child.stdin?.on('error', () => {})
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  onLines(child, (line) => {
    const record = parse(line)
    if (record === undefined) return void noise.push(line)
    if (record.type === 'response' && answers.has(record.id))
      return answers.get(record.id)?.(record as unknown as PiResponse)
    const event = { ...record, at: performance.now() - started }
    events.push(event)
    listeners.forEach((listener) => listener(event))
    if (isDialog(event)) void dialog(event)
  })

  const pi: Pi = {
    pid: child.pid ?? -1,
    scratch: prepared.scratch,
    events,
    noise,
    get stderr() {
      return stderr
    },
    exited,
    async send(type, fields = {}) {
      const id = `r${++count}`
      const answered = new Promise<PiResponse>((resolve) => answers.set(id, resolve))
      write({ id, type, ...fields })
      return soon(answered, 60_000, `the answer to ${type}`).finally(() => answers.delete(id))
    },
    waitFor(predicate, ms = 20_000, from = events.length) {
      const past = events.slice(from).find(predicate)
      if (past) return Promise.resolve(past)
      const found = Promise.withResolvers<PiEvent>()
      const listener = (event: PiEvent) => predicate(event) && found.resolve(event)
      listeners.add(listener)
      return soon(found.promise, ms, 'an event').finally(() => listeners.delete(listener))
    },
    async prompt(message, fields = {}, ms = 60_000) {
      const from = events.length
      const response = await pi.send('prompt', { message, ...fields })
      if (!response.success) throw new Error(`pi refused the prompt: ${response.error}`)
      if (response.data?.disposition !== 'started') return response
      const start = await pi.waitFor((event) => event.type === 'agent_start', ms, from)
      await pi.waitFor((event) => event.type === 'agent_settled', ms, events.indexOf(start))
      return response
    },
    async command(line) {
      const from = events.length
      const { data } = await pi.prompt(line)
      if (data?.disposition !== 'handled')
        throw new Error(`pi has no command for "${line}": ${data?.disposition}`)
      return pi.notices(from)
    },
    answer: (next) => void (handler = next),
    notices: (from = 0) =>
      events.slice(from).flatMap((event) => (event.method === 'notify' ? [String(event.message)] : [])),
    async close(ms = 10_000) {
      child.stdin?.end()
      const exit = await within(exited, ms, () => 'pi to end').catch(() => pi.kill())
      await prepared.dispose()
      return exit
    },
    kill(signal = 'SIGKILL') {
      child.kill(signal)
      return within(exited, 10_000, () => `pi to end after ${signal}`)
    },
    [Symbol.asyncDispose]: async () => void (await pi.close()),
  }
  try {
    await soon(pi.send('get_state'), options.startMs ?? 60_000, 'pi to start')
  } catch (error) {
    await pi.close(0)
    throw error
  }
  return pi
}

const dialogs = new Set(['select', 'confirm', 'input', 'editor'])

function isDialog(event: PiEvent): event is UiRequest {
  return event.type === 'extension_ui_request' && dialogs.has(event.method)
}

function summary(events: readonly PiEvent[]): string {
  return events
    .slice(-12)
    .map((event) => `${event.type}${event.method ? `:${event.method}` : ''}`)
    .join(' ')
}

/** Splits on LF alone: pi's records may hold the line separators of Unicode. */
function onLines(child: ChildProcess, take: (line: string) => void): void {
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') take(line)
  })
}

function parse(line: string): { type: string; [key: string]: Parsed } | undefined {
  try {
    const record = JSON.parse(line)
    return typeof record?.type === 'string' ? record : undefined
  } catch {
    return undefined
  }
}
