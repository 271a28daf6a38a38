import { spawn } from 'node:child_process'
import type { Parsed } from './chat.ts'
import { exitOf, within } from './processes.ts'
import type { Exit } from './processes.ts'
import { markedEnv } from './test-root.ts'

/** A stdio server driven by hand, without any client of ours or of the SDK. */
export interface Pipe extends AsyncDisposable {
  readonly pid: number
  /** What came on stdout, byte for byte. */
  readonly stdout: string
  readonly stderr: string
  /** The JSON-RPC messages among it. */
  readonly frames: readonly Parsed[]
  readonly exited: Promise<Exit>
  send(message: object): void
  /** Sends a request and resolves with the whole answer, result or error. */
  request(method: string, params?: object): Promise<Parsed>
  /** Says hello as a legacy client does. */
  initialize(protocolVersion?: string): Promise<Parsed>
  /** The first message, past or future, that the predicate accepts. */
  waitForFrame(predicate: (frame: Parsed) => boolean, ms?: number): Promise<Parsed>
  /** Closes stdin, as a client that ends does first. */
  end(): void
  close(): Promise<void>
}

/** Spawns `node <script> <args>` and speaks JSON-RPC lines with it. */
export function startPipe(
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Pipe {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...markedEnv(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const exited = exitOf(child)
  const frames: Parsed[] = []
  const watchers = new Set<() => void>()
  const output = { stdout: '', stderr: '' }
  let rest = ''
  let count = 0

  child.stdin.on('error', () => {})
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    frames.push(...lines.map(message).filter((frame) => frame !== undefined))
    watchers.forEach((look) => look())
  })

  const pipe: Pipe = {
    pid: child.pid ?? -1,
    get stdout() {
      return output.stdout
    },
    get stderr() {
      return output.stderr
    },
    frames,
    exited,
    send: (frame) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`),
    request(method, params) {
      const id = `request-${++count}`
      pipe.send({ id, method, ...(params && { params }) })
      return pipe.waitForFrame((frame) => frame.id === id && frame.method === undefined)
    },
    async initialize(protocolVersion = '2025-11-25') {
      const clientInfo = { name: 'pipe', version: '1.0.0' }
      const answer = await pipe.request('initialize', { protocolVersion, capabilities: {}, clientInfo })
      pipe.send({ method: 'notifications/initialized' })
      return answer
    },
    waitForFrame(predicate, ms = 10_000) {
      const found = Promise.withResolvers<Parsed>()
      const look = () => frames.some((frame) => predicate(frame) && (found.resolve(frame), true))
      watchers.add(look)
      look()
      const ended = exited.then(({ code, signal }) => {
        throw new Error(`The server ended with ${signal ?? code}: ${output.stderr}`)
      })
      return within(Promise.race([found.promise, ended]), ms, () => `a frame after ${output.stdout}`).finally(
        () => watchers.delete(look),
      )
    },
    end: () => void child.stdin.end(),
    async close() {
      child.kill('SIGKILL')
      await exited
    },
    [Symbol.asyncDispose]: () => pipe.close(),
  }
  return pipe
}

function message(line: string): Parsed {
  try {
    const frame: Parsed = JSON.parse(line)
    return frame?.jsonrpc === '2.0' ? frame : undefined
  } catch {
    return undefined
  }
}
