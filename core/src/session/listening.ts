import type { TaplineError } from '../errors.ts'
import { backoffDelay, Nap } from './backoff.ts'
import type { ListenFilter, Listening } from './client.ts'
import type { Connection } from './connection.ts'
import { sdkError } from './sdk-errors.ts'

const RELISTEN = { initialMs: 500, maxMs: 30_000 }
const LISTEN_TIMEOUT_MS = 30_000
/** A stream that ends sooner counts as a failure: listening again at once would only repeat it. */
const LASTED_MS = 5_000

/** A `subscriptions/listen` stream that is kept open. */
export interface Listener {
  /** Replaces the resources whose updates are asked for; the stream is opened anew where they differ. */
  listenTo(uris: readonly string[]): void
  stop(): void
}

/** Who is told of what happens to the stream. */
export interface ListenerEvents {
  onOpened(): void
  /** The server does not take the credentials. It is asked again, with growing pauses. */
  onRefused(error: TaplineError): void
  /** The stream was broken. Nothing is redelivered, so what may have changed must be listed anew. */
  onResumed(): void
  /** A stream is open, and this is what of the resources the server agreed to. */
  onHonored(asked: readonly string[], honored: readonly string[]): void
}

/**
 * Keeps a `subscriptions/listen` stream open on a modern connection until it closes (specification 2026-07-28,
 * basic/patterns/subscriptions). Legacy servers have none.
 */
export function keepListening(connection: Connection, events: ListenerEvents): Listener {
  if (connection.era !== 'modern') return { listenTo: () => undefined, stop: () => undefined }
  const listener = new RunningListener(connection, events)
  void connection.closed.then(() => listener.stop())
  return listener
}

class RunningListener implements Listener {
  readonly #connection: Connection
  readonly #events: ListenerEvents
  readonly #changes: ListenFilter
  readonly #stop = new AbortController()
  readonly #nap = new Nap()
  #uris: readonly string[] = []
  #stream: Listening | undefined
  #running = false

  constructor(connection: Connection, events: ListenerEvents) {
    this.#connection = connection
    this.#events = events
    this.#changes = changesOf(connection.client.capabilities)
    this.#start()
  }

  listenTo(uris: readonly string[]): void {
    if (uris.length === this.#uris.length && uris.every((uri) => this.#uris.includes(uri))) return
    this.#uris = uris
    void this.#stream?.close().catch(() => undefined)
    this.#nap.wake()
    this.#start()
  }

  stop(): void {
    this.#stop.abort()
    this.#nap.wake()
  }

  #start(): void {
    if (this.#running || Object.keys(this.#filter()).length === 0) return
    this.#running = true
    void this.#run()
  }

  #filter(): ListenFilter {
    return { ...this.#changes, ...(this.#uris.length > 0 ? { resourceSubscriptions: [...this.#uris] } : {}) }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    let failures = 0
    for (let round = 0; !signal.aborted && Object.keys(this.#filter()).length > 0; round++) {
      const asked = this.#uris
      try {
        const options = { signal, timeoutMs: LISTEN_TIMEOUT_MS }
        const stream = await this.#connection.client.listen(this.#filter(), options)
        this.#stream = stream
        const openedAt = performance.now()
        this.#events.onOpened()
        if (round > 0) this.#events.onResumed()
        this.#events.onHonored(asked, stream.honored.resourceSubscriptions ?? [])
        // What is asked for changed while the stream was being opened.
        if (asked !== this.#uris) void stream.close().catch(() => undefined)
        const ending = await stream.closed
        if (ending === 'local') failures = 0
        else failures = performance.now() - openedAt < LASTED_MS ? failures + 1 : 0
        if (ending === 'local' && asked !== this.#uris) continue
        if (ending === 'local') break
      } catch (thrown) {
        failures++
        const error = sdkError(thrown)
        if (error.code === 'AUTH_FAILED' && !signal.aborted) this.#events.onRefused(error)
      } finally {
        this.#stream = undefined
      }
      if (!signal.aborted) await this.#nap.sleep(backoffDelay(Math.max(failures, 1), RELISTEN))
    }
    this.#running = false
  }
}

function changesOf(capabilities: Readonly<Record<string, unknown>>): ListenFilter {
  const changes = (feature: string): boolean =>
    (capabilities[feature] as { readonly listChanged?: unknown } | undefined)?.listChanged === true
  return {
    ...(changes('tools') ? { toolsListChanged: true } : {}),
    ...(changes('prompts') ? { promptsListChanged: true } : {}),
    ...(changes('resources') ? { resourcesListChanged: true } : {}),
  }
}
