import { EventFrames } from './event-frames.ts'
import { copyEvents, createEventSink, type EventSink, isEventStream } from './event-stream.ts'
import { type Failures, isBodyTimeout, isRefusal } from './failures.ts'
import { pause, reopenDelay, Watchdog } from './pacing.ts'
import { isSessionLost, rpcErrorOf } from './refusals.ts'

/** A stream that lived this long, or carried an event, was a good one: the next pause is short. */
const GOOD_AFTER_MS = 5_000

/** What the push stream needs. */
export interface PushStreamOptions {
  readonly capBytes: number
  readonly idleMs: number
  readonly maxDelayMs: number
  readonly failures: Failures
  /** Ends the stream for good. */
  readonly stop: AbortSignal
  readonly inSession: boolean
  /** Opens the GET. */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<Response>
  onState(state: 'open' | 'connecting' | 'none'): void
  /** The stream is open again, and what happened in between was missed. */
  onResumed(): void
  /** The server does not take the credentials. */
  onRefused(error: Error): void
  onSessionLost(status: number): void
  onError(error: unknown): void
}

/** `quiet`: our own watchdog. `ended`: the server's doing. `stop`: no further attempt. */
type Ending = 'quiet' | 'ended' | 'broken' | 'stop'

/**
 * The events of the server's own stream (GET), as one body that never ends: the SDK gives up after its
 * retries and forgets the event id of a stream that carried no event, this does neither.
 */
export function openPushStream(options: PushStreamOptions): ReadableStream<Uint8Array> {
  const sink = createEventSink()
  void new PushStream(options, sink.write).run()
  return sink.readable
}

class PushStream {
  readonly #options: PushStreamOptions
  readonly #write: EventSink['write']
  #frames: EventFrames
  #failed = 0
  #missed = false
  #wasOpen = false

  constructor(options: PushStreamOptions, write: EventSink['write']) {
    this.#options = options
    this.#write = write
    this.#frames = this.#framesAfter()
  }

  async run(): Promise<void> {
    const { stop, maxDelayMs, onState } = this.#options
    onState('connecting')
    for (let attempt = 1; ; attempt++) {
      const began = Date.now()
      const ending = await this.#attempt(attempt)
      if (ending === 'stop' || stop.aborted) return
      if (ending === 'quiet') continue
      onState('connecting')
      const good = this.#frames.hasEvents || Date.now() - began >= GOOD_AFTER_MS
      this.#failed = good ? (ending === 'ended' ? 0 : 1) : this.#failed + 1
      // A server that ends its stream itself redelivers from the id; without one, or after a break, all is open.
      this.#missed ||= ending === 'broken' || this.#frames.lastId === undefined
      await pause(reopenDelay(this.#failed, maxDelayMs, this.#frames.retryMs), stop)
    }
  }

  /** Opens the stream once and stays until it ends. */
  async #attempt(attempt: number): Promise<Ending> {
    const { idleMs, stop, onError, onRefused, open } = this.#options
    const controller = new AbortController()
    const abort = (): void => controller.abort()
    stop.addEventListener('abort', abort)
    const watchdog = new Watchdog(idleMs, abort)
    this.#frames = this.#framesAfter(this.#frames)
    let isOpen = false
    try {
      const response = await open(this.#frames.lastId, controller.signal)
      if (!response.ok || !isEventStream(response)) return await this.#refused(response, attempt)
      isOpen = true
      this.#opened()
      watchdog.touch()
      await copyEvents(response.body, this.#frames, this.#write, () => watchdog.touch())
      return 'ended'
    } catch (thrown) {
      if (isOpen && (watchdog.expired || isBodyTimeout(thrown))) return 'quiet'
      if (stop.aborted || watchdog.expired) return 'broken'
      onError(thrown)
      // A plugin that authorizes each request may refuse one, too.
      if (isRefusal(thrown)) onRefused(thrown)
      return 'broken'
    } finally {
      watchdog.stop()
      stop.removeEventListener('abort', abort)
    }
  }

  #opened(): void {
    this.#wasOpen = true
    this.#options.onState('open')
    if (!this.#missed) return
    this.#missed = false
    this.#options.onResumed()
  }

  async #refused(response: Response, attempt: number): Promise<Ending> {
    const { inSession, onSessionLost, onState } = this.#options
    const { status } = response
    const rpc = await rpcErrorOf(response)
    if (status === 401 || status === 403) return this.#unauthorized(status, attempt)
    const lost = inSession && isSessionLost(status, rpc)
    // A session that was opened a moment ago is not lost: such a server has no stream. Were the session
    // opened again for it, the same would happen again, without end.
    if (lost && attempt > 1) {
      onSessionLost(status)
      return 'stop'
    }
    if (lost || (!this.#wasOpen && isFinal(status))) {
      onState('none')
      return 'stop'
    }
    // It may be the id that the server does not like.
    if (status === 400) this.#frames.lastId = undefined
    return 'broken'
  }

  /** Where the first stream of a connection is refused, its credentials are fresh: the tools alone are used. */
  #unauthorized(status: number, attempt: number): Ending {
    const { failures, onError, onRefused, onState } = this.#options
    const error = failures.credentials(status)
    onError(error)
    onRefused(error)
    if (attempt > 1) return 'broken'
    onState('none')
    return 'stop'
  }

  #framesAfter(before?: EventFrames): EventFrames {
    const { capBytes, failures } = this.#options
    return new EventFrames(capBytes, () => failures.frameTooLarge(capBytes), before)
  }
}

/** Whether a refusal would be the same again: the server has no event stream. */
function isFinal(status: number): boolean {
  return status < 500 ? ![408, 409, 425, 429].includes(status) : status === 501
}
