import { Nap } from './backoff.ts'
import type { Connection } from './connection.ts'
import type { Listener } from './listening.ts'
import { matchResources } from './resource-list.ts'
import { sdkError } from './sdk-errors.ts'

/** More resources than this are not subscribed to: a pattern may match a whole database. */
const MOST_RESOURCES = 1_000
const LONGEST_REQUEST_MS = 30_000
/** A list that changes all the time is read this often. */
const ROUND_MS = 1_000

/** A subscription that the server did not take. */
export interface RefusedSubscription {
  /** The address or pattern as it was configured, or an address that matched: then untrusted text of the server. */
  readonly uri: string
  /** One sentence; may quote the server. */
  readonly reason: string
}

/** What a session is subscribed to. */
export interface SubscriptionStatus {
  readonly active: readonly string[]
  readonly refused: readonly RefusedSubscription[]
}

/** What is to be subscribed to. */
export interface SubscriptionOptions {
  /** Addresses, and patterns with `*` over the server's list. */
  readonly wanted: readonly string[]
  /** How long one request may take, in milliseconds; 30 s at most. */
  readonly timeoutMs: number
}

/** The subscriptions of one connection. */
export interface Subscriptions {
  /** The server's list of resources changed: patterns are matched again. */
  refresh(): void
  /** What of the resources a listen stream was promised. */
  honored(asked: readonly string[], honored: readonly string[]): void
}

/**
 * Subscribes a new connection to `wanted` resources: with `resources/subscribe` on legacy connections, over the
 * listen stream on modern ones. What the server refuses is told, and asked for again on the next connection.
 */
export function subscribe(
  connection: Connection,
  options: SubscriptionOptions,
  listener: Listener,
  onStatus: (status: SubscriptionStatus) => void,
): Subscriptions {
  const subscriptions = new ConnectionSubscriptions(connection, options, listener, onStatus)
  subscriptions.refresh()
  return subscriptions
}

class ConnectionSubscriptions implements Subscriptions {
  readonly #connection: Connection
  readonly #named: readonly string[]
  /** Named ones that are too many. */
  readonly #leftOut: readonly string[]
  readonly #patterns: readonly string[]
  readonly #timeoutMs: number
  readonly #listener: Listener
  readonly #onStatus: (status: SubscriptionStatus) => void
  readonly #active = new Set<string>()
  readonly #refused = new Map<string, string>()
  readonly #nap = new Nap()
  /** What was asked for in the last round. */
  #asked: readonly string[] = []
  #began = -Infinity
  #isRunning = false
  #again = false
  #closed = false

  constructor(
    connection: Connection,
    { wanted, timeoutMs }: SubscriptionOptions,
    listener: Listener,
    onStatus: (status: SubscriptionStatus) => void,
  ) {
    this.#connection = connection
    const named = [...new Set(wanted.filter((uri) => !uri.includes('*')))]
    this.#named = named.slice(0, MOST_RESOURCES)
    this.#leftOut = named.slice(MOST_RESOURCES)
    this.#patterns = [...new Set(wanted.filter((uri) => uri.includes('*')))]
    this.#timeoutMs = Math.min(timeoutMs, LONGEST_REQUEST_MS)
    this.#listener = listener
    this.#onStatus = onStatus
    void connection.closed.then(() => {
      this.#closed = true
      this.#nap.wake()
    })
  }

  refresh(): void {
    if (this.#closed || this.#named.length + this.#patterns.length === 0) return
    this.#again = true
    if (!this.#isRunning) void this.#run()
  }

  honored(asked: readonly string[], honored: readonly string[]): void {
    const known = this.#active.size > 0 || asked.length > 0
    const [before, agreed] = [new Set(asked), new Set(honored)]
    for (const uri of this.#active) if (!before.has(uri)) this.#active.delete(uri)
    for (const uri of asked) {
      if (agreed.has(uri)) this.#accept(uri)
      else this.#refuse(uri, 'the server did not agree to it.')
    }
    if (known) this.#tell()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#again && !this.#closed) {
      const waitMs = this.#began + ROUND_MS - performance.now()
      if (waitMs > 0) await this.#nap.sleep(waitMs)
      this.#again = false
      this.#began = performance.now()
      await this.#round()
      this.#tell()
    }
    this.#isRunning = false
  }

  async #round(): Promise<void> {
    const { resources } = this.#connection.client.capabilities
    if ((resources as { readonly subscribe?: unknown } | undefined)?.subscribe !== true) {
      for (const uri of [...this.#named, ...this.#patterns])
        this.#refuse(uri, 'the server does not offer subscriptions to its resources.')
      return
    }
    for (const uri of this.#leftOut)
      this.#refuse(uri, `only ${MOST_RESOURCES} resources of a server are subscribed to.`)
    const isModern = this.#connection.era === 'modern'
    const matching = this.#match()
    // What is named does not wait for a list that may be long in coming.
    if (isModern) this.#listener.listenTo([...new Set([...this.#asked, ...this.#named])])
    else await this.#request(this.#named, true)
    if (this.#named.length > 0 && this.#patterns.length > 0) this.#tell()
    const matched = await matching
    if (this.#closed) return
    const wanted = new Set([...this.#named, ...matched])
    this.#asked = [...wanted]
    for (const uri of this.#refused.keys())
      if (!wanted.has(uri) && !this.#isWritten(uri)) this.#refused.delete(uri)
    if (isModern) return this.#listener.listenTo(this.#asked)
    await this.#request(matched, false)
    await this.#unsubscribe(wanted)
  }

  /** Whether it stands so in the configuration. */
  #isWritten(uri: string): boolean {
    return this.#patterns.includes(uri) || this.#leftOut.includes(uri)
  }

  /** The addresses of the server's list that match. Never rejects. */
  async #match(): Promise<readonly string[]> {
    const patterns = this.#patterns
    if (patterns.length === 0) return []
    const room = MOST_RESOURCES - this.#named.length
    try {
      const pageOf = (cursor: string | undefined): Promise<unknown> =>
        this.#send('resources/list', cursor === undefined ? undefined : { cursor })
      const found = new Set<string>()
      for (const [pattern, { uris, problem }] of await matchResources(patterns, room, pageOf)) {
        for (const uri of uris) found.add(uri)
        if (problem === undefined) this.#refused.delete(pattern)
        else this.#refused.set(pattern, problem)
      }
      return [...found].slice(0, room)
    } catch (thrown) {
      const reason = `its resources could not be listed: ${sdkError(thrown).message}`
      for (const pattern of patterns) this.#refused.set(pattern, reason)
      // What was there before may still be.
      return this.#asked.filter((uri) => !this.#named.includes(uri))
    }
  }

  /** Subscribes at a legacy server; to what it has refused only `again`. */
  async #request(uris: readonly string[], again: boolean): Promise<void> {
    let isSilent = false
    for (const uri of uris) {
      if (this.#closed) return
      if (this.#active.has(uri) || (!again && this.#refused.has(uri))) continue
      if (isSilent) {
        this.#refuse(uri, 'the server does not answer.')
        continue
      }
      try {
        await this.#send('resources/subscribe', { uri })
        this.#accept(uri)
      } catch (thrown) {
        if (this.#closed) return
        const { code, message } = sdkError(thrown)
        this.#refuse(uri, message)
        isSilent = code === 'REQUEST_TIMEOUT'
      }
    }
  }

  /** Where the resource is gone, nothing comes of it whether the server hears of this or not. */
  async #unsubscribe(wanted: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#active].filter((uri) => !wanted.has(uri))
    for (const uri of gone) this.#active.delete(uri)
    let isSilent = false
    for (const uri of gone) {
      if (isSilent || this.#closed) return
      await this.#send('resources/unsubscribe', { uri }).catch((thrown: unknown) => {
        isSilent = sdkError(thrown).code === 'REQUEST_TIMEOUT'
      })
    }
  }

  #send(method: string, params: Readonly<Record<string, unknown>> | undefined): Promise<unknown> {
    const timeoutMs = this.#timeoutMs
    const signal = AbortSignal.timeout(timeoutMs + 1_000)
    return this.#connection.client.request(method, params, { signal, timeoutMs })
  }

  #accept(uri: string): void {
    this.#active.add(uri)
    this.#refused.delete(uri)
  }

  #refuse(uri: string, reason: string): void {
    this.#active.delete(uri)
    this.#refused.set(uri, reason)
  }

  #tell(): void {
    if (this.#closed) return
    const refused = Array.from(this.#refused, ([uri, reason]) => ({ uri, reason }))
    this.#onStatus({ active: [...this.#active], refused })
  }
}
