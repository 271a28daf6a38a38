import type {
  ConnectRequest,
  Frame,
  HttpTransportSpec,
  SendOptions,
  Transport,
  TransportReport,
} from '@tapline/core'
import { endpointOf } from './endpoint.ts'
import { Exchange } from './exchange.ts'
import { type Credential, type Failures, failuresOf } from './failures.ts'
import { EXCHANGE_HEADER, mergeHeaders } from './headers.ts'
import { type HttpOptions, HttpSession } from './http-session.ts'
import { pause } from './pacing.ts'
import { openPushStream } from './push-stream.ts'
import { isSessionLost, rpcErrorOf } from './refusals.ts'

const HEARING_MS = 1_000

/** The SDK's transport for `spec`, with `defaults` for headers that neither the entry nor a credential sets. */
export async function openTransport(
  request: ConnectRequest,
  spec: HttpTransportSpec,
  defaults: Readonly<Record<string, string>>,
): Promise<Transport> {
  const url = endpointOf(spec.url, request.error)
  const headers = mergeHeaders([defaults, spec.headers, request.headers], request.error)
  const transport = new HttpTransport(request, spec, url)
  // Streams are reopened below the SDK, which never sees one end.
  const reconnection = { initialMs: 1_000, maxMs: 1_000, growFactor: 1, maxRetries: 0 }
  transport.attach(await request.streamableHttp(url, { fetch: transport.fetch, headers, reconnection }))
  return transport
}

/** The SDK's transport, supervised: requests that fail at once, streams that reopen, an end that is bounded. */
class HttpTransport implements Transport {
  onmessage: Transport['onmessage']
  onclose: Transport['onclose']
  onerror: Transport['onerror']
  onsessionlost: Transport['onsessionlost']
  onpushresumed: Transport['onpushresumed']
  onpushrefused: Transport['onpushrefused']
  onreport: Transport['onreport']
  readonly hasPerRequestStream = true
  readonly #options: HttpOptions
  readonly #failures: Failures
  readonly #http: HttpSession
  readonly #stop = new AbortController()
  readonly #exchanges = new Map<string, Exchange>()
  /** POSTs whose response headers are still awaited. */
  readonly #asking = new Set<Promise<Response>>()
  #inner!: Transport
  #closing: Promise<void> | undefined
  #notifications = 0
  #push: ReadableStream<Uint8Array> | undefined
  #pushState: TransportReport['pushStream']
  #lost: Error | undefined

  constructor({ server, error, fetch }: ConnectRequest, spec: HttpTransportSpec, url: URL) {
    const place = { origin: url.origin, server: server.name, credential: credentialOf(spec) }
    this.#failures = failuresOf(error, place)
    this.#options = {
      url,
      send: fetch,
      timeoutMs: server.requestTimeoutMs,
      capBytes: spec.bodyCapBytes,
      idleMs: spec.sseIdleTimeoutMs,
      maxDelayMs: server.reconnect.maxMs,
      failures: this.#failures,
      stop: this.#stop.signal,
      sessionId: () => this.sessionId,
      mayResumeLater: (response) => this.#mayResumeLater(response),
    }
    this.#http = new HttpSession(this.#options)
  }

  attach(inner: Transport): void {
    this.#inner = inner
    inner.onmessage = (frame, extra) => {
      if (frame.method === undefined && frame.id != null) this.#exchanges.get(keyOf(frame.id))?.finish()
      this.onmessage?.(frame, extra)
    }
    inner.onerror = (error) => this.onerror?.(error)
    inner.onclose = () => this.onclose?.()
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  report(): TransportReport {
    return this.#pushState === undefined ? {} : { pushStream: this.#pushState }
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  /** For a request, resolves with its answer and not with its sending: what breaks in between is heard at once. */
  async send(frame: Frame, options?: SendOptions): Promise<void> {
    if (this.#stop.signal.aborted) throw this.#gone()
    const exchange = new Exchange(frame)
    const key = exchange.id === undefined ? `notification:${++this.#notifications}` : keyOf(exchange.id)
    this.#exchanges.set(key, exchange)
    const cancel = (): void => exchange.cancel()
    if (options?.requestSignal?.aborted) cancel()
    options?.requestSignal?.addEventListener('abort', cancel, { once: true })
    try {
      await this.#inner.send(frame, { ...options, headers: { ...options?.headers, [EXCHANGE_HEADER]: key } })
      if (exchange.id !== undefined) await exchange.done
    } catch (thrown) {
      throw this.#failureOf(thrown, exchange, frame)
    } finally {
      options?.requestSignal?.removeEventListener('abort', cancel)
      this.#exchanges.delete(key)
    }
    if (frame.method === 'notifications/cancelled')
      this.#exchanges.get(keyOf(frame.params?.requestId))?.cancel()
  }

  /** Every request of the SDK: POSTs, and one GET for the event stream. */
  readonly fetch = async (_url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    const exchange = this.#exchanges.get(headers.get(EXCHANGE_HEADER) ?? '')
    headers.delete(EXCHANGE_HEADER)
    if (this.#stop.signal.aborted) throw exchange?.fail(this.#gone()) ?? this.#gone()
    this.#http.note(headers)
    if (init.method === 'GET') return this.#openPush()
    if (exchange === undefined) throw this.#gone()
    const asked = this.#http.post(init.body as string, headers, exchange)
    this.#asking.add(asked)
    return await asked.finally(() => this.#asking.delete(asked))
  }

  /** Bounded: whatever runs is aborted, and the server has a second to hear of it. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    this.#stop.abort()
    if (this.#lost) await this.#hearOthers()
    for (const exchange of this.#exchanges.values()) exchange.fail(this.#failures.closed())
    if (!this.#lost) await this.#http.end()
    await this.#inner.close()
  }

  /** Calls beside the one that found the session lost are about to hear the same, and are then sent again. */
  async #hearOthers(): Promise<void> {
    const heard = new AbortController()
    void Promise.allSettled(this.#asking).then(() => heard.abort())
    await pause(HEARING_MS, heard.signal)
  }

  #openPush(): Response {
    if (this.#push !== undefined) return new Response(null, { status: 405 })
    this.#push = openPushStream({
      ...this.#options,
      inSession: this.sessionId !== undefined,
      open: (lastEventId, signal) => this.#http.get(lastEventId, signal),
      onState: (state) => this.#setPushState(state),
      onResumed: () => this.#tell(this.onpushresumed),
      onRefused: (error) => this.#tell(() => this.onpushrefused?.(error)),
      onSessionLost: (status) => this.#loseSession(this.#failures.sessionLost(status)),
      onError: (error) => this.onerror?.(error as Error),
    })
    return new Response(this.#push, { headers: { 'content-type': 'text/event-stream' } })
  }

  async #mayResumeLater(response: Response): Promise<boolean> {
    const { status } = response
    const rpc = await rpcErrorOf(response)
    // The call itself may have been processed: it is not sent again in the new session.
    if (this.sessionId !== undefined && isSessionLost(status, rpc))
      this.#loseSession(this.#failures.sessionLost(status))
    return status >= 500 || [408, 409, 425, 429].includes(status)
  }

  #loseSession(failure: Error): void {
    if (this.#lost || this.#stop.signal.aborted) return
    this.#lost = failure
    this.#tell(this.onsessionlost)
  }

  #setPushState(state: TransportReport['pushStream']): void {
    if (this.#pushState === state || this.#stop.signal.aborted) return
    this.#pushState = state
    this.#tell(this.onreport)
  }

  /** A listener that throws must not end the event stream. */
  #tell(listener: (() => void) | undefined): void {
    try {
      listener?.()
    } catch (thrown) {
      this.onerror?.(thrown as Error)
    }
  }

  /** What was not sent in a session that is lost may be sent in the next one. */
  #gone(): Error {
    return this.#lost ?? this.#failures.closed()
  }

  /** The SDK's own HTTP errors pass, as the era probe reads them; what quotes an answer does not. */
  #failureOf(thrown: unknown, exchange: Exchange, frame: Frame): unknown {
    const { failure } = exchange
    const handshake = frame.method === 'initialize' || frame.method === 'server/discover'
    if (failure !== undefined) {
      const { code, data } = failure as {
        readonly code?: unknown
        readonly data?: { readonly outcome?: unknown }
      }
      if (handshake && data?.outcome === 'unknown') return this.#failures.brokenHandshake(failure)
      if (code !== 'SESSION_LOST') return failure
      // A rejected request tells core itself; nobody listens to a rejected notification.
      if (exchange.id === undefined) this.#loseSession(failure)
      this.#lost ??= failure
      return failure
    }
    if (exchange.over) return thrown
    const { name, data } = thrown as {
      readonly name?: unknown
      readonly data?: { readonly status?: unknown }
    }
    if (typeof data?.status === 'number') return thrown
    // A body that breaks off is a TypeError; all else that the SDK throws here is about the content.
    if (name !== 'TypeError') return this.#failures.unusable(handshake, thrown)
    return handshake ? this.#failures.brokenHandshake(thrown) : this.#failures.brokenOff(thrown)
  }
}

/** What the entry says who is calling. Other plugins may have added something of their own. */
function credentialOf({ headers, auth }: HttpTransportSpec): Credential {
  if (auth !== undefined) return 'token'
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization') ? 'header' : 'none'
}

function keyOf(id: unknown): string {
  return `${typeof id}:${String(id)}`
}
