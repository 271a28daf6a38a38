import type { ConnectRequest, Frame, Transport, TransportReport } from '@tapline/core'
import { FrameReader } from './frames.ts'
import { ProcessGroup } from './group.ts'
import type { Launch, ServerProcess } from './process.ts'
import { launch, launchFailure } from './process.ts'
import type { Settings } from './settings.ts'
import { StderrTail } from './stderr.ts'
import { within } from './within.ts'

/** `closed` by us, `lost` by the server's own doing, or `broken`: not to be read any further. */
type Cause = 'closed' | 'lost' | 'broken'

/** What a transport needs of the request for it. */
export type Asked = Pick<ConnectRequest, 'error' | 'signal'>

/** Longest wait for the exit that explains why a stream ended. */
const EXPLAIN_MS = 250
/** Output is taken for drained when it was silent for two such periods. */
const QUIET_MS = 25
/** Fastest pace of `onreport`. */
const REPORT_MS = 200

/** A server as a child process: frames on its standard input and output, one a line. */
export class StdioTransport implements Transport {
  onmessage: Transport['onmessage']
  onclose: Transport['onclose']
  onerror: Transport['onerror']
  onreport: Transport['onreport']
  readonly #launch: Launch
  readonly #request: Asked
  readonly #settings: Settings
  readonly #released: () => void
  readonly #frames: FrameReader
  readonly #stderr: StderrTail
  readonly #closed = Promise.withResolvers<void>()
  #child: ServerProcess | undefined
  #group: ProcessGroup | undefined
  #outputClosed: Promise<unknown> = Promise.resolve()
  #cause: Cause | undefined
  #ending: string | undefined
  #ended: Promise<void> | undefined
  #activity = 0
  #reporting: NodeJS.Timeout | undefined

  /** `released` is called when nothing of the server is left, or nothing more can be done about it. */
  constructor(launch: Launch, request: Asked, settings: Settings, released = (): void => undefined) {
    this.#launch = launch
    this.#stderr = new StderrTail(launch.secrets)
    this.#request = request
    this.#settings = settings
    this.#released = released
    this.#frames = new FrameReader(settings.maxFrameBytes, (frame) =>
      this.#guard(() => this.onmessage?.(frame)),
    )
  }

  /** The SDK takes a transport that has `pid` and `stderr` for a child process. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** There for its name alone; {@link report} has the text. */
  get stderr(): null {
    return null
  }

  async start(): Promise<void> {
    if (this.#child) throw new TypeError('start() may be called once')
    if (this.#ended || this.#request.signal.aborted) {
      throw this.#request.error('CANCELLED', 'the connection was closed before the server was started')
    }
    let failure: unknown
    try {
      const child = (this.#child = launch(this.#launch))
      if (child.pid !== undefined) return this.#attach(child, child.pid)
      failure = await new Promise((resolve) => child.once('error', resolve))
    } catch (thrown) {
      failure = thrown
    }
    const { message, advice } = launchFailure(this.#launch, failure)
    this.#ending = message
    // What is missing stays so until somebody has seen to it; a machine that is out of processes may recover.
    const lasting = advice !== undefined
    throw this.#request.error('CONNECT_FAILED', message, {
      data: { spawned: false, ...(lasting ? { lasting } : {}) },
      ...(lasting ? { advice } : {}),
    })
  }

  /** Resolves when the operating system has taken the whole frame: a server that does not read is waited for. */
  async send(frame: Frame): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable || this.#ended) throw this.#closedError()
    // Many line readers also break at these, among them Node's readline.
    const line = `${JSON.stringify(frame).replace(/[\u0085\u2028\u2029]/g, escaped)}\n`
    const error = await new Promise<Error | null | undefined>((resolve) => stdin.write(line, resolve))
    if (!error) return
    // A broken pipe is the first sign of a death whose reason arrives a little later.
    await within(this.#closed.promise, 2 * EXPLAIN_MS)
    throw this.#closedError()
  }

  /** Ends the server with everything it started; see the README for the steps and their times. */
  close(): Promise<void> {
    return this.#end('closed')
  }

  report(): TransportReport {
    const { skipped } = this.#frames
    return {
      ...this.#stderr.report(),
      ...(skipped > 0 ? { skippedLines: skipped } : {}),
      ...(this.#ending === undefined ? {} : { ending: this.#ending }),
    }
  }

  #attach(child: ServerProcess, pid: number): void {
    this.#group = new ProcessGroup(child, pid, this.#settings)
    this.#outputClosed = Promise.all(
      [child.stdout, child.stderr].map((stream) => new Promise((resolve) => stream.once('close', resolve))),
    )
    child.once('exit', (code, signal) => {
      this.#lose(signal ? `server was ended by signal ${signal}` : `server exited with code ${code}`, true)
    })
    child.once('error', (error) => this.#lose(launchFailure(this.#launch, error).message, true))
    child.stdin.on('error', () => this.#lose('server closed its input'))
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stdout.once('close', () => this.#lose('server closed its output'))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#activity++
      this.#stderr.push(chunk)
      this.#reportSoon()
    })
    // Reading fails only together with the process, whose exit says more.
    for (const stream of [child.stdout, child.stderr]) stream.on('error', () => undefined)
  }

  #read(chunk: Buffer): void {
    this.#activity++
    const { skipped } = this.#frames
    if (this.#frames.push(chunk)) {
      if (this.#frames.skipped !== skipped) this.#reportSoon()
    } else if (this.#cause === undefined) {
      this.#ending = `server sent a message of more than ${this.#settings.maxFrameBytes} bytes`
      const error = this.#request.error('LIMIT_EXCEEDED', this.#ending)
      void this.#end('broken')
      this.#guard(() => this.onerror?.(error))
    }
  }

  /** The server is gone or as good as gone. An exit explains more than the broken stream that was seen before it. */
  #lose(ending: string, explains = false): void {
    const better = explains && this.#cause === 'lost' && !this.#group?.forced
    if (this.#cause === undefined || better) this.#ending = ending
    void this.#end('lost')
  }

  #end(cause: Cause): Promise<void> {
    this.#cause ??= cause
    return (this.#ended ??= Promise.resolve(this.#cause).then((first) => this.#shutDown(first)))
  }

  async #shutDown(cause: Cause): Promise<void> {
    const stopped = this.#group?.stop()
    // Calls of a server that is gone fail at once; what it left behind is ended meanwhile.
    if (cause === 'closed') await stopped
    if (cause === 'lost') await within(this.#group?.leaderExited ?? stopped!, EXPLAIN_MS)
    if (cause !== 'broken') await this.#drain()
    this.#finish()
    await stopped
    this.#released()
  }

  /** Waits for what was written before the end, but not for others that hold the same pipe open. */
  async #drain(): Promise<void> {
    let quiet = 0
    for (let waited = 0; quiet < 2 && waited < this.#settings.drainMs; waited += QUIET_MS) {
      const seen = this.#activity
      if (await within(this.#outputClosed, QUIET_MS)) return
      quiet = this.#activity === seen ? quiet + 1 : 0
    }
  }

  #finish(): void {
    clearTimeout(this.#reporting)
    this.#frames.end()
    const child = this.#child
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy()
    // What the group does from here on is our doing and explains nothing.
    this.#cause = 'closed'
    this.#closed.resolve()
    this.#guard(() => this.onclose?.())
  }

  #reportSoon(): void {
    this.#reporting ??= setTimeout(() => {
      this.#reporting = undefined
      this.#guard(() => this.onreport?.())
    }, REPORT_MS).unref()
  }

  #guard(listener: () => void): void {
    try {
      listener()
    } catch (thrown) {
      this.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }

  #closedError(): Error {
    return this.#request.error('CONNECTION_CLOSED', this.#ending ?? 'the connection is closed')
  }
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
