import { TaplineError } from '../errors.ts'
import type { CallToolResult, Progress, ServerTool } from '../types/index.ts'
import { CallClock } from './call-clock.ts'
import type { Connection } from './connection.ts'

/** A call may take this many times its timeout in all, however much progress it reports. */
const HARD_CAP_FACTOR = 20
const HARD_CAP_FLOOR_MS = 600_000
const MAX_TIMER_MS = 2_147_483_647

/** Options of a tool call. */
export interface CallOptions {
  /** Ends the call and tells the server so. */
  readonly signal?: AbortSignal
  /** Milliseconds without an answer or progress; the server's request timeout when absent. */
  readonly timeoutMs?: number
  /** The tool as it was listed, for servers of the modern era. */
  readonly tool?: ServerTool
  onProgress?(progress: Progress): void
}

/**
 * Runs one request under an idle timeout that progress resets, a hard cap and the caller's signal. Neither of them runs on
 * while the server asks the person something.
 */
export async function runRequest<T>(
  connection: Connection,
  server: { readonly name: string; readonly requestTimeoutMs: number },
  what: string,
  options: Pick<CallOptions, 'signal' | 'timeoutMs' | 'onProgress'>,
  send: (signal: AbortSignal, timeoutMs: number, progressToken: string) => Promise<T>,
): Promise<T> {
  const idleMs = Math.min(options.timeoutMs ?? server.requestTimeoutMs, MAX_TIMER_MS)
  const capMs = Math.min(Math.max(idleMs * HARD_CAP_FACTOR, HARD_CAP_FLOOR_MS), MAX_TIMER_MS)
  const controller = new AbortController()
  const place = { server: server.name }
  let ended: TaplineError | undefined
  const end = (error: TaplineError): void => {
    ended ??= error
    controller.abort(error.message)
  }
  const timedOut = (): void =>
    end(new TaplineError('REQUEST_TIMEOUT', `${what} was not answered within ${seconds(idleMs)}.`, place))
  const givenUp = (): void =>
    end(
      new TaplineError(
        'REQUEST_TIMEOUT',
        `${what} was given up after ${seconds(capMs)} in spite of its progress.`,
        place,
      ),
    )
  const clock = new CallClock({ idleMs, capMs }, timedOut, givenUp)
  const { questions } = connection
  const endOfCall = questions.began(clock)
  let failed = true
  const cancel = (): void => end(new TaplineError('CANCELLED', `${what} was cancelled.`, place))
  const progress = connection.progress.open((news) => {
    clock.touch()
    try {
      options.onProgress?.(news)
    } catch {
      // Whoever listens may fail; the call goes on, and so does the transport that brought the news.
    }
  })
  if (options.signal?.aborted) cancel()
  options.signal?.addEventListener('abort', cancel, { once: true })
  try {
    if (ended) throw ended
    // The clock knows better than the SDK when it is time.
    const answer = await questions.fulfilling(controller.signal, () =>
      send(controller.signal, MAX_TIMER_MS, progress.token),
    )
    failed = false
    return answer
  } catch (thrown) {
    throw ended ?? connection.explain(thrown)
  } finally {
    endOfCall(failed)
    clock.stop()
    progress.close()
    options.signal?.removeEventListener('abort', cancel)
  }
}

/** `tools/call` on one connection. */
export function callTool(
  connection: Connection,
  server: { readonly name: string; readonly requestTimeoutMs: number },
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Promise<CallToolResult> {
  return runRequest(
    connection,
    server,
    `The call of "${name}" on server "${server.name}"`,
    options,
    async (signal, timeoutMs, progressToken) => {
      const params = { name, arguments: args, _meta: { progressToken } }
      const result =
        connection.era === 'modern'
          ? await connection.client.callTool(params, {
              signal,
              timeoutMs,
              ...(options.tool ? { tool: options.tool } : {}),
            })
          : ((await connection.client.request('tools/call', params, { signal, timeoutMs })) as CallToolResult)
      if (Array.isArray(result?.content)) return result
      const { content } = (result ?? {}) as { readonly content?: unknown }
      if (content === undefined || content === null) return { ...result, content: [] }
      const message = `The server answered the call of "${name}" with something that is no result of a tool.`
      throw new TaplineError('PROTOCOL', message, { server: server.name })
    },
  )
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}
