import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ERROR_CODES, TaplineError } from '../errors.ts'
import type { ConnectRequest, Elicit, Frame, ServerSpec, Transport, TransportReport } from '../types/index.ts'
import { settledWithin, unlessAborted } from '../bounded.ts'
import { answer } from './answers.ts'
import type { Era, Sdk, SdkClient } from './client.ts'
import { Questions } from './elicitation/index.ts'
import { ProgressBook } from './progress.ts'
import { sdkError } from './sdk-errors.ts'
import { type Redact, redactorFor, safeError, safeReport } from './secrets.ts'
import { tapTransport } from './tap.ts'

/** Longest wait for the answer to the era probe. */
const PROBE_TIMEOUT_MS = 3_000
/** Longest that a transport may take to close. */
const CLOSE_DEADLINE_MS = 10_000

/** What opening a connection needs. */
export interface ConnectionOptions {
  readonly server: ServerSpec
  readonly cwd: string
  readonly info: { readonly name: string; readonly version: string }
  readonly sdk: Sdk
  readonly attempt: number
  readonly signal: AbortSignal
  /** The era of this server as it was last seen. */
  readonly knownEra: Era | undefined
  /** Runs the `connect` hook. */
  transportFor(request: ConnectRequest): Promise<Transport | undefined>
  /** Asks the person what the server asks. */
  readonly elicit?: Elicit
  /** `redact` removes the secrets of this connection from what the frame says. */
  onNotification(frame: Frame, redact: Redact): void
  onPushResumed(): void
  onReport(): void
}

/** One live connection to a server. */
export interface Connection {
  readonly client: SdkClient
  readonly transport: Transport
  readonly era: Era
  readonly progress: ProgressBook
  readonly questions: Questions
  /** Resolves when the transport has closed, whoever closed it. */
  readonly closed: Promise<void>
  report(): TransportReport
  /** Our error for what went wrong on this connection: how it ended, what to do, and no secrets. */
  explain(thrown: unknown): TaplineError
  /** Bounded; never rejects. */
  close(): Promise<void>
}

/**
 * Opens one connection and settles its era. A server that dies on the probe, or is silent to it, is
 * opened once more as a legacy one.
 */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  if (options.knownEra === 'legacy') {
    return attempt(options, true)
  }
  const phase = { probed: false, initialized: false }
  try {
    return await attempt(options, false, phase)
  } catch (thrown) {
    const error = sdkError(thrown)
    const diedOnProbe =
      phase.probed &&
      !phase.initialized &&
      (error.code === 'CONNECTION_CLOSED' ||
        error.code === 'REQUEST_TIMEOUT' ||
        error.code === 'CONNECT_FAILED')
    if (
      !diedOnProbe ||
      options.signal.aborted ||
      error.data.spawned === false ||
      error.data.unreachable === true
    )
      throw error
    return await attempt(options, true)
  }
}

async function attempt(
  options: ConnectionOptions,
  knownLegacy: boolean,
  phase = { probed: false, initialized: false },
): Promise<Connection> {
  const { server, signal } = options
  const { transport, redact } = await claim(options)
  const report = (): TransportReport => safeReport(transport.report?.() ?? {}, redact)
  const explain = (thrown: unknown): TaplineError => withEnding(safeError(thrown, redact), report, server)
  const progress = new ProgressBook()
  const questions = new Questions(server.name, options.elicit)
  let closed = (): void => undefined
  const whenClosed = new Promise<void>((resolve) => (closed = resolve))
  let era = undefined as Era | undefined
  const tapped = tapTransport(transport, {
    onFrame: (frame) => {
      if (frame.method === undefined || frame.id !== undefined) return false
      options.onNotification(frame, redact)
      if (frame.method === 'notifications/progress') return progress.accept(frame.params)
      if (frame.method === 'notifications/elicitation/complete') questions.completed(frame.params)
      // The SDK needs cancellations; on modern connections also what belongs to a listen stream.
      return era !== 'modern' && frame.method !== 'notifications/cancelled'
    },
    amended: (frame) => answer(frame, era),
    onSend: (frame) => {
      if (frame.method === 'server/discover') phase.probed = true
      if (frame.method === 'initialize') phase.initialized = true
    },
    onClose: () => {
      void questions.close()
      closed()
    },
  })
  transport.onpushresumed = options.onPushResumed
  transport.onreport = options.onReport
  const client = options.sdk.createClient({
    info: options.info,
    redact,
    probeTimeoutMs: Math.min(PROBE_TIMEOUT_MS, server.requestTimeoutMs),
    ...(options.elicit ? { elicit: (params, stop) => questions.ask(params, stop, era === 'modern') } : {}),
    roots: () => [{ uri: pathToFileURL(options.cwd).href, name: basename(options.cwd) }],
    onError: () => undefined,
  })
  const end = (): Promise<void> => settledWithin(CLOSE_DEADLINE_MS, () => transport.close())
  const abort = (): void => void end()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await client.connect(tapped, { signal, timeoutMs: server.requestTimeoutMs, knownLegacy })
  } catch (thrown) {
    await questions.close()
    await end()
    throw explain(thrown)
  } finally {
    signal.removeEventListener('abort', abort)
  }
  era = client.era
  return {
    client,
    transport,
    era,
    progress,
    questions,
    closed: whenClosed,
    report,
    explain,
    close: async () => {
      await questions.close()
      await settledWithin(CLOSE_DEADLINE_MS, () => client.close())
      await end()
      // Not every transport says that it has closed.
      closed()
    },
  }
}

async function claim(options: ConnectionOptions): Promise<{ transport: Transport; redact: Redact }> {
  const { server, sdk, signal } = options
  const request: ConnectRequest = {
    server,
    transport: server.transport,
    env: {},
    headers: {},
    cwd: options.cwd,
    attempt: options.attempt,
    signal,
    secrets: new Set(),
    streamableHttp: (url, httpOptions) => Promise.resolve(sdk.streamableHttp(url, httpOptions)),
    error: (code, message, details) => new TaplineError(code, message, { server: server.name, ...details }),
  }
  let transport: Transport | undefined
  try {
    transport = await unlessAborted(
      options.transportFor(request),
      signal,
      (late) => void late?.close().catch(() => undefined),
    )
  } catch (thrown) {
    throw safeError(thrown, redactorFor(request))
  }
  const type = server.transport.type === 'custom' ? server.transport.name : server.transport.type
  if (transport === undefined) {
    throw new TaplineError('NO_TRANSPORT', `No plugin provides the transport "${type}".`, {
      server: server.name,
    })
  }
  if (typeof transport?.start !== 'function' || typeof transport.send !== 'function') {
    throw new TaplineError(
      'NO_TRANSPORT',
      `What a plugin provides for the transport "${type}" is no transport: it cannot start or send.`,
      { server: server.name, advice: ERROR_CODES.TAP_FAILED },
    )
  }
  return { transport, redact: redactorFor(request) }
}

/** The end of a connection that was open, in one line. */
export function closedError(server: ServerSpec, { ending, lastStderr }: TransportReport): TaplineError {
  const how = ending ?? 'the connection was closed'
  const advice = closedAdvice(server)
  return new TaplineError('CONNECTION_CLOSED', lastStderr ? `${how} (stderr: ${lastStderr})` : how, {
    server: server.name,
    ...(advice ? { advice } : {}),
  })
}

/** What to do about a connection that ended, where no next attempt follows by itself. */
function closedAdvice({ reconnect }: Pick<ServerSpec, 'reconnect'>): string | undefined {
  return reconnect.maxAttempts > 1
    ? undefined
    : 'Look at the server’s own message, fix the entry, then try again.'
}

/** Adds how the connection ended and the last lines of stderr: what a person needs to find the reason. */
function withEnding(error: TaplineError, report: () => TransportReport, server: ServerSpec): TaplineError {
  if (error.code !== 'CONNECTION_CLOSED') return error
  const { ending, stderrTail } = report()
  const parts = [ending ?? error.message, ...(stderrTail ? [`stderr: ${stderrTail}`] : [])]
  const advice = closedAdvice(server) ?? error.advice
  const details = { ...error.place, advice, data: error.data, cause: error }
  return new TaplineError('CONNECTION_CLOSED', parts.join('\n'), details)
}
