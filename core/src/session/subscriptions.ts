import { matchesPattern } from '../pipeline/policies.ts'
import type { Connection } from './connection.ts'
import type { Listener } from './listening.ts'
import { sdkError } from './sdk-errors.ts'

const REQUEST_TIMEOUT_MS = 30_000
/** Pages of `resources/list` that patterns are matched against. */
const MOST_PAGES = 64
/** More resources than this are not subscribed to: a pattern may match a whole database. */
const MOST_RESOURCES = 1_000

/** A subscription that the server did not take. */
export interface RefusedSubscription {
  /** The address or pattern as it was configured, or an address that matched. */
  readonly uri: string
  /** One sentence; may quote the server. */
  readonly reason: string
}

/** What a session is subscribed to. */
export interface SubscriptionStatus {
  readonly active: readonly string[]
  readonly refused: readonly RefusedSubscription[]
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
 * listen stream on modern ones. What the server refuses is told and asked for again on the next connection.
 */
export function subscribe(
  connection: Connection,
  wanted: readonly string[],
  listener: Listener,
  onStatus: (status: SubscriptionStatus) => void,
): Subscriptions {
  const subscriptions = new ConnectionSubscriptions(connection, wanted, listener, onStatus)
  if (wanted.length > 0) subscriptions.refresh()
  return subscriptions
}

class ConnectionSubscriptions implements Subscriptions {
  readonly #connection: Connection
  readonly #wanted: readonly string[]
  readonly #listener: Listener
  readonly #onStatus: (status: SubscriptionStatus) => void
  readonly #active = new Set<string>()
  readonly #refused = new Map<string, string>()
  #running: Promise<void> | undefined
  #again = false
  #closed = false

  constructor(
    connection: Connection,
    wanted: readonly string[],
    listener: Listener,
    onStatus: (status: SubscriptionStatus) => void,
  ) {
    this.#connection = connection
    this.#wanted = wanted
    this.#listener = listener
    this.#onStatus = onStatus
    void connection.closed.then(() => (this.#closed = true))
  }

  refresh(): void {
    if (this.#wanted.length === 0 || this.#closed) return
    this.#again = true
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  honored(asked: readonly string[], honored: readonly string[]): void {
    const known = this.#active.size > 0 || asked.length > 0
    for (const uri of this.#active) if (!asked.includes(uri)) this.#active.delete(uri)
    for (const uri of asked) {
      if (honored.includes(uri)) this.#settle(uri)
      else this.#settle(uri, 'the server did not agree to it.')
    }
    if (known) this.#tell()
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false
      const uris = await this.#find()
      if (this.#closed) return
      if (this.#connection.era === 'modern') this.#listener.listenTo(uris)
      else await this.#request(uris)
      this.#tell()
    }
  }

  /** The addresses that are wanted: those that were named, and those of the server's list that match. */
  async #find(): Promise<readonly string[]> {
    const { resources } = this.#connection.client.capabilities
    if ((resources as { readonly subscribe?: unknown } | undefined)?.subscribe !== true) {
      for (const uri of this.#wanted)
        this.#settle(uri, 'the server does not offer subscriptions to its resources.')
      return []
    }
    const patterns = this.#wanted.filter((uri) => uri.includes('*'))
    const found = new Set(this.#wanted.filter((uri) => !patterns.includes(uri)))
    for (const [pattern, matches] of await this.#match(patterns)) {
      if (typeof matches === 'string') this.#settle(pattern, matches)
      else for (const uri of matches) found.add(uri)
    }
    const uris = [...found]
    if (uris.length <= MOST_RESOURCES) return uris
    for (const pattern of patterns)
      this.#settle(pattern, `more than ${MOST_RESOURCES} resources match; the rest is left out.`)
    return uris.slice(0, MOST_RESOURCES)
  }

  async #match(patterns: readonly string[]): Promise<[pattern: string, matches: string | string[]][]> {
    if (patterns.length === 0) return []
    let listed: readonly string[]
    try {
      listed = await this.#list()
    } catch (thrown) {
      const reason = `its resources could not be listed: ${sdkError(thrown).message}`
      return patterns.map((pattern) => [pattern, reason])
    }
    return patterns.map((pattern) => {
      this.#refused.delete(pattern)
      return [pattern, listed.filter((uri) => matchesPattern(pattern, uri))]
    })
  }

  async #list(): Promise<readonly string[]> {
    const uris: string[] = []
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = cursor === undefined ? undefined : { cursor }
      const answer = (await this.#send('resources/list', params)) as {
        readonly resources?: readonly { readonly uri?: unknown }[]
        readonly nextCursor?: unknown
      } | null
      for (const resource of Array.isArray(answer?.resources) ? answer.resources : [])
        if (typeof resource?.uri === 'string') uris.push(resource.uri)
      if (typeof answer?.nextCursor !== 'string') break
      cursor = answer.nextCursor
    }
    return uris
  }

  async #request(uris: readonly string[]): Promise<void> {
    for (const uri of uris) {
      if (this.#active.has(uri)) continue
      try {
        await this.#send('resources/subscribe', { uri })
        this.#settle(uri)
      } catch (thrown) {
        if (this.#closed) return
        this.#settle(uri, sdkError(thrown).message)
      }
    }
    for (const uri of this.#active) {
      if (uris.includes(uri)) continue
      this.#active.delete(uri)
      // The resource is gone: whether the server hears of this or not, nothing comes of it.
      await this.#send('resources/unsubscribe', { uri }).catch(() => undefined)
    }
  }

  #send(method: string, params: Readonly<Record<string, unknown>> | undefined): Promise<unknown> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    return this.#connection.client.request(method, params, { signal, timeoutMs: REQUEST_TIMEOUT_MS })
  }

  #settle(uri: string, refusal?: string): void {
    if (refusal === undefined) {
      this.#active.add(uri)
      this.#refused.delete(uri)
    } else {
      this.#active.delete(uri)
      this.#refused.set(uri, refusal)
    }
  }

  #tell(): void {
    const refused = Array.from(this.#refused, ([uri, reason]) => ({ uri, reason }))
    this.#onStatus({ active: [...this.#active], refused })
  }
}
