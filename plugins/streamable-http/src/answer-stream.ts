import { setImmediate as turn } from 'node:timers/promises'
import { EventFrames } from './event-frames.ts'
import { copyEvents, createEventSink, isEventStream } from './event-stream.ts'
import type { Exchange } from './exchange.ts'
import { type Failures, isRefusal } from './failures.ts'
import { pause, reopenDelay, Watchdog } from './pacing.ts'

/** What the answer to a POST needs when it is an event stream. */
export interface AnswerOptions {
  readonly capBytes: number
  readonly idleMs: number
  readonly maxDelayMs: number
  readonly failures: Failures
  /** Ends every stream. */
  readonly stop: AbortSignal
  /** Opens a GET that goes on behind `lastEventId`. */
  resume(lastEventId: string, signal: AbortSignal): Promise<Response>
  /** Whether asking again may help after the resumption was refused. */
  mayResumeLater(response: Response): Promise<boolean>
}

/**
 * The events of a POST's answer. A stream that ends early is resumed by GET when its events have ids
 * (specification 2025-11-25, basic/transports, "Resumability and Redelivery"); else the outcome is unknown.
 */
export function answerStream(
  first: Response,
  exchange: Exchange,
  options: AnswerOptions,
): ReadableStream<Uint8Array> {
  const { capBytes, failures, maxDelayMs } = options
  const sink = createEventSink()
  const framesAfter = (before?: EventFrames) =>
    new EventFrames(capBytes, () => exchange.fail(failures.frameTooLarge(capBytes)), before)

  const run = async (): Promise<void> => {
    let response: Response | undefined = first
    let frames = framesAfter()
    for (let failed = 0; ;) {
      const broken = response === undefined || (await copy(response, frames))
      failed = frames.hasEvents && !broken ? 0 : failed + 1
      // What was written last must have reached the SDK before we can know whether the answer was in it.
      await turn()
      if (exchange.over) return
      if (frames.lastId === undefined) {
        exchange.fail(failures.brokenOff())
        return
      }
      await pause(reopenDelay(failed, maxDelayMs, frames.retryMs), exchange.signal)
      if (exchange.over) return
      response = await reopen(frames.lastId)
      frames = framesAfter(frames)
    }
  }

  /** Answers whether the stream broke, other than by the server's own end. */
  const copy = async (response: Response, frames: EventFrames): Promise<boolean> => {
    try {
      await copyEvents(response.body, frames, sink.write, () => watchdog?.touch())
      return false
    } catch {
      return true
    }
  }

  const reopen = async (lastId: string): Promise<Response | undefined> => {
    try {
      const response = await options.resume(lastId, exchange.signal)
      if (response.ok && isEventStream(response)) return response
      if (!(await options.mayResumeLater(response))) exchange.fail(failures.brokenOff())
    } catch (thrown) {
      // All else is out of reach, still.
      if (isRefusal(thrown)) exchange.fail(failures.brokenOff(thrown))
    }
    return undefined
  }

  // A server may forget to end an answered stream, and may even speak on it: it stays until it is silent.
  let watchdog: Watchdog | undefined
  let ended = false
  exchange.whenOver(() => {
    if (!ended) watchdog = new Watchdog(options.idleMs, () => exchange.cancel())
  })
  const stop = (): void => void (exchange.over ? exchange.cancel() : exchange.fail(failures.closed()))
  options.stop.addEventListener('abort', stop)
  void run().finally(() => {
    ended = true
    watchdog?.stop()
    options.stop.removeEventListener('abort', stop)
    sink.end()
  })
  return sink.readable
}
