import { messageOf } from '../errors.ts'
import type { Kernel } from '../kernel/index.ts'
import type { DedupVerdict, Frame, Notice, PushPolicy, Receipt, Trigger, TriggerEvent, TriggerState } from '../types/index.ts'
import { ServerBook } from './book.ts'
import { HeldTriggers } from './held.ts'
import { createLane, type Lane, pump } from './lane.ts'

/** Methods that a server may invent are cached up to this many. */
const MOST_ROUTES = 256
/** A lane with this many waiting refuses more: its sink is stuck or drowning. */
const MOST_WAITING = 10_000

/** What {@link createPipeline} takes. */
export interface PipelineOptions {
  readonly kernel: Pick<Kernel, 'hooks' | 'hasSink'>
  /** The policy for a method of a server. */
  policyFor(server: string, method: string): PushPolicy
  /** Nothing is delivered or claimed: what would be is said to have reached the sink `watch`. */
  readonly watchOnly?: boolean
  /** Told once of each policy whose sink is not loaded. */
  onMissingSink?(policy: string, server: string): void
}

/** Turns notifications into delivered, accounted-for triggers. */
export interface Pipeline {
  /** Takes one notification. Never throws. */
  receive(server: string, frame: Pick<Frame, 'method' | 'params'>): void
  /** Takes a trigger of a source that is not an MCP server. */
  admit(trigger: Trigger): void
  /** The books of a server, made when first asked for. */
  book(server: string): ServerBook
  /** Resolves when nothing is on its way; held triggers do not count. */
  idle(): Promise<void>
  /** Ends: what is held or waiting is dropped, with the reason. */
  close(): void
}

/** A pipeline: notify → dedup → deliver, in arrival order for each server and sink. */
export function createPipeline(options: PipelineOptions): Pipeline {
  return new NotificationPipeline(options)
}

class NotificationPipeline implements Pipeline {
  readonly #options: PipelineOptions
  readonly #stop = new AbortController()
  readonly #books = new Map<string, ServerBook>()
  readonly #routes = new Map<string, Map<string, Lane>>()
  readonly #lanes = new Map<string, Lane>()
  readonly #missing = new Set<string>()
  readonly #held = new HeldTriggers((trigger) => this.#enter(trigger))
  #idle: (() => void)[] = []
  #moving = 0

  constructor(options: PipelineOptions) {
    this.#options = options
  }

  receive(server: string, frame: Pick<Frame, 'method' | 'params'>): void {
    const method = frame.method ?? ''
    const book = this.book(server)
    const receivedAt = Date.now()
    let notice: Notice
    try {
      notice = this.#options.kernel.hooks.notify.call({ kind: 'raw', server, method, params: frame.params, receivedAt }) as Notice
    } catch (thrown) {
      notice = { kind: 'drop', reason: 'mapping failed', error: messageOf(thrown) }
    }
    if (notice.kind === 'trigger') return this.admit(notice)
    if (notice.kind === 'handled') {
      book.handled++
      return
    }
    book.received++
    book.dropped++
    book.lastEventAt = receivedAt
    const drop = notice.kind === 'drop' ? notice : { reason: 'undeclared', error: undefined }
    if (drop.error !== undefined) book.lastError = drop.error
    this.#say(book, { ts: receivedAt, traceId: '', server, method, key: '', policy: 'drop', summary: method, state: 'dropped', reason: drop.reason })
  }

  admit(trigger: Trigger): void {
    const book = this.book(trigger.server)
    book.received++
    book.pending++
    book.lastEventAt = trigger.receivedAt
    book.lastError = undefined
    this.#enter(trigger)
  }

  book(server: string): ServerBook {
    let book = this.#books.get(server)
    if (!book) this.#books.set(server, (book = new ServerBook()))
    return book
  }

  idle(): Promise<void> {
    return this.#moving === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve))
  }

  close(): void {
    this.#stop.abort()
    for (const trigger of this.#held.clear()) this.#end(this.#laneFor(trigger), trigger, 'dropped', undefined, 'the session ended')
    for (const lane of this.#lanes.values()) {
      for (let trigger = lane.queue.take(); trigger; trigger = lane.queue.take()) {
        this.#moving--
        this.#end(lane, trigger, 'dropped', undefined, 'the session ended')
      }
    }
  }

  #enter(trigger: Trigger): void {
    const lane = this.#laneFor(trigger)
    if (this.#stop.signal.aborted) return this.#end(lane, trigger, 'dropped', undefined, 'the session ended')
    if (lane.policy === 'ignore') return this.#end(lane, trigger, 'dropped', undefined, 'ignored')
    if (lane.queue.size >= MOST_WAITING) return this.#end(lane, trigger, 'dropped', undefined, `more than ${MOST_WAITING} wait for ${lane.policy}`)
    this.#moving++
    lane.queue.add(trigger)
    pump(lane, (next) => this.#claim(lane, next))
  }

  #laneFor({ server, method }: Trigger): Lane {
    let routes = this.#routes.get(server)
    if (!routes) this.#routes.set(server, (routes = new Map()))
    const known = routes.get(method)
    if (known) return known
    const policy = this.#options.policyFor(server, method)
    const name = `${server}\n${policy}`
    let lane = this.#lanes.get(name)
    if (!lane) {
      const { hooks, hasSink } = this.#options.kernel
      const sink = hasSink(policy) ? hooks.deliver.for(policy) : undefined
      lane = createLane({ server, policy, sink, context: { policy, signal: this.#stop.signal } })
      this.#lanes.set(name, lane)
    }
    if (routes.size < MOST_ROUTES) routes.set(method, lane)
    return lane
  }

  #claim(lane: Lane, trigger: Trigger): void {
    const { dedup } = this.#options.kernel.hooks
    if (this.#options.watchOnly || !dedup.isUsed()) return this.#deliver(lane, trigger, undefined)
    dedup.callAsync({ trigger, scope: lane.scope }, (_error, verdict) => {
      if (verdict?.verdict === 'duplicate') return this.#settle(lane, trigger, 'deduped', undefined, `duplicate of ${verdict.of}`)
      if (verdict?.verdict !== 'later') return this.#deliver(lane, trigger, verdict ?? undefined)
      const replaced = this.#held.hold(trigger, verdict.until)
      if (replaced) this.#end(lane, replaced, 'collapsed', undefined, `into ${trigger.traceId}`)
      this.#say(this.book(trigger.server), event(lane, trigger, 'pending', undefined, 'until the window ends'))
      this.#next(lane)
    })
  }

  #deliver(lane: Lane, trigger: Trigger, claim: Extract<DedupVerdict, { verdict: 'first' }> | undefined): void {
    if (this.#options.watchOnly) return this.#settle(lane, trigger, 'delivered', 'watch')
    if (!lane.sink) {
      claim?.done?.()
      return lane.policy === 'log' ? this.#settle(lane, trigger, 'delivered', 'log') : this.#withoutSink(lane, trigger)
    }
    lane.sink.callAsync(trigger, lane.context, (_error, receipt) => {
      if (receipt) {
        claim?.done?.()
        this.#taken(lane, trigger, receipt)
      } else {
        this.#toInbox(lane, trigger, claim)
      }
    })
  }

  #taken(lane: Lane, trigger: Trigger, receipt: Receipt): void {
    if (receipt.dropped !== undefined) this.#settle(lane, trigger, 'dropped', receipt.sink, receipt.dropped)
    else this.#settle(lane, trigger, receipt.redirected ? 'redirected' : 'delivered', receipt.sink)
  }

  #toInbox(lane: Lane, trigger: Trigger, claim: Extract<DedupVerdict, { verdict: 'first' }> | undefined): void {
    const { hooks, hasSink } = this.#options.kernel
    const lost = (): void => {
      claim?.failed?.()
      this.#settle(lane, trigger, 'dropped', undefined, `not taken by ${lane.policy}`)
    }
    if (lane.policy === 'inbox' || !hasSink('inbox')) return lost()
    hooks.deliver.for('inbox').callAsync(trigger, lane.context, (_error, receipt) => {
      if (!receipt) return lost()
      claim?.done?.()
      this.#settle(lane, trigger, 'redirected', receipt.sink, `not taken by ${lane.policy}`)
    })
  }

  #withoutSink(lane: Lane, trigger: Trigger): void {
    if (!this.#missing.has(lane.policy)) {
      this.#missing.add(lane.policy)
      this.#options.onMissingSink?.(lane.policy, lane.server)
    }
    this.#settle(lane, trigger, 'dropped', undefined, 'no sink')
  }

  #settle(lane: Lane, trigger: Trigger, state: Exclude<TriggerState, 'received' | 'pending'>, sink?: string, reason?: string): void {
    this.#end(lane, trigger, state, sink, reason)
    this.#next(lane)
  }

  #next(lane: Lane): void {
    lane.busy = false
    this.#moving--
    pump(lane, (next) => this.#claim(lane, next))
    if (this.#moving === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #end(lane: Lane, trigger: Trigger, state: Exclude<TriggerState, 'received' | 'pending'>, sink?: string, reason?: string): void {
    const book = this.book(trigger.server)
    book.pending--
    book[state]++
    this.#say(book, event(lane, trigger, state, sink, reason))
  }

  #say(book: ServerBook, said: TriggerEvent): void {
    if (said.state !== 'pending') book.remember(said)
    const { observe } = this.#options.kernel.hooks
    if (observe.isUsed()) observe.callAsync(said, () => undefined)
  }
}

function event(lane: Lane, trigger: Trigger, state: TriggerState, sink: string | undefined, reason: string | undefined): TriggerEvent {
  const { traceId, server, method, key, summary } = trigger
  return {
    ts: Date.now(),
    traceId,
    server,
    method,
    key,
    policy: lane.policy,
    summary,
    state,
    ...(sink === undefined ? {} : { sink }),
    ...(reason === undefined ? {} : { reason }),
  }
}
