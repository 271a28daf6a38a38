import { type AnswerOptions, answerStream } from './answer-stream.ts'
import { capBody } from './body-cap.ts'
import { isEventStream } from './event-stream.ts'
import type { Exchange } from './exchange.ts'
import { sessionHeaders } from './headers.ts'
import { timerMs } from './pacing.ts'
import { fetchWithinOrigin, type Send } from './redirects.ts'
import { refusal } from './refusals.ts'

const GOODBYE_MS = 1_000

/** What all requests of a connection have in common. */
export interface HttpOptions extends Omit<AnswerOptions, 'resume'> {
  readonly url: URL
  /** Makes the requests; the platform's `fetch` when undefined. */
  readonly send: Send | undefined
  /** Longest wait for the response headers of a POST. */
  readonly timeoutMs: number
  /** The id that the server gave to the session, if it did. */
  sessionId(): string | undefined
}

/** The requests of one connection: nothing comes back that is too large, too late or the body of an error. */
export class HttpSession {
  readonly #options: HttpOptions
  /** Of the last request of the SDK: its GETs and DELETE carry the same credentials and protocol version. */
  #headers = new Headers()

  constructor(options: HttpOptions) {
    this.#options = options
  }

  /** Notes what the SDK sends. */
  note(headers: Headers): void {
    this.#headers = headers
  }

  /** Sends one message. What goes wrong ends its exchange. */
  async post(body: string, headers: Headers, exchange: Exchange): Promise<Response> {
    const { url, timeoutMs, failures, send } = this.#options
    const late = setTimeout(() => exchange.fail(failures.late(timeoutMs)), timerMs(timeoutMs))
    try {
      const response = await fetchWithinOrigin(
        url,
        { method: 'POST', headers, body, signal: exchange.signal },
        failures,
        send,
      )
      if (response.ok) return await this.#answer(response, exchange)
      return await refusal(response, { id: exchange.id, inSession: headers.has('mcp-session-id') }, failures)
    } catch (thrown) {
      throw exchange.fail(thrown as Error)
    } finally {
      clearTimeout(late)
    }
  }

  /** Opens an event stream, behind `lastEventId` if there is one. */
  get(lastEventId: string | undefined, signal: AbortSignal): Promise<Response> {
    const { url, failures, send, sessionId } = this.#options
    const headers = sessionHeaders(this.#headers, sessionId())
    headers.set('accept', 'text/event-stream')
    if (lastEventId !== undefined) headers.set('last-event-id', lastEventId)
    return fetchWithinOrigin(url, { method: 'GET', headers, signal }, failures, send)
  }

  /** Tells the server that the session is over. Best effort: it may not allow that (405), or be gone. */
  async end(): Promise<void> {
    const { url, failures, send, sessionId } = this.#options
    if (sessionId() === undefined) return
    const headers = sessionHeaders(this.#headers, sessionId())
    const init = { method: 'DELETE', headers, signal: AbortSignal.timeout(GOODBYE_MS) }
    await fetchWithinOrigin(url, init, failures, send).then(
      (response) => response.body?.cancel(),
      () => undefined,
    )
  }

  async #answer(response: Response, exchange: Exchange): Promise<Response> {
    const { failures, capBytes } = this.#options
    const { body, headers, status } = response
    if (exchange.id === undefined) {
      // The SDK opens the event stream on 202 alone; servers also answer 200 and 204 to what expects no answer.
      await body?.cancel()
      return new Response(null, { status: 202, headers })
    }
    if (body === null) return response
    const content = isEventStream(response)
      ? answerStream(response, exchange, {
          ...this.#options,
          resume: (lastId, signal) => this.get(lastId, signal),
        })
      : capBody(body, capBytes, () => exchange.fail(failures.tooLarge(capBytes)))
    return new Response(content, { status, headers })
  }
}
