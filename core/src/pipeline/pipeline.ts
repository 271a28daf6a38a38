import { messageOf } from '../errors.ts'
import type {
  DedupVerdict,
  Drop,
  Frame,
  Notice,
  RawNotification,
  Receipt,
  Trigger,
  TriggerEvent,
  TriggerState,
} from '../types/index.ts'
import { ServerBook } from './book.ts'
import { type Claim, conclude } from './claim.ts'
import { Delivery } from './delivery.ts'
import { HeldTriggers } from './held.ts'
import { type Lane, pump, stepOf } from './lane.ts'
import { dropStep, settledNotice } from './notice.ts'
import type { Pipeline, PipelineOptions } from './options.ts'
import { Routes } from './routes.ts'

/** A lane with this many waiting refuses more: its sink is stuck or drowning. */
const MOST_WAITING = 10_000
const ENDED = 'the session ended'

type FinalState = Exclude<TriggerState, 'received' | 'pending'>

/** A pipeline: notify → dedup → deliver, in arrival order for each server and sink. */
export function createPipeline(options: PipelineOptions): Pipeline {
  return new NotificationPipeline(options)
}

class NotificationPipeline implements Pipeline {
  readonly #options: PipelineOptions
  readonly #books = new Map<string, ServerBook>()
  readonly #routes: Routes
  readonly #missing = new Set<string>()
  /** Delivered without asking again: whoever asked them to wait would ask them again. */
  readonly #early = new Set<Trigger>()
  readonly #held = new HeldTriggers((trigger, early) => {
    if (early) this.#early.add(trigger)
    this.#enter(trigger, this.#routes.laneOf(trigger))
  })
  #idle: (() => void)[] = []
  #moving = 0
  #ended = false

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#routes = new Routes(
      options,
      (server) => this.book(server),
      (lane) => ({
        begin: (trigger) => this.#claim(lane, trigger),
        onVerdict: (_error, verdict) => this.#judged(lane, lane.current as Trigger, verdict),
        onReceipt: (_error, receipt) => this.#answered(lane, lane.current as Trigger, receipt),
      }),
    )
  }

  receive(server: string, frame: Pick<Frame, 'method' | 'params'>): void {
    const method = frame.method ?? ''
    const receivedAt = Date.now()
    let notice: Notice
    try {
      notice = this.#options.kernel.hooks.notify.call({
        kind: 'raw',
        server,
        method,
        params: frame.params,
        receivedAt,
      }) as Notice
    } catch (thrown) {
      notice = { kind: 'drop', reason: 'mapping failed', error: messageOf(thrown) }
    }
    const settled = settledNotice(notice, server)
    if (settled.kind === 'trigger') this.admit(settled)
    else if (settled.kind === 'handled') this.book(server).handled++
    else this.#drop({ server, method, receivedAt }, settled)
  }

  admit(trigger: Trigger): void {
    const lane = this.#routes.laneOf(trigger)
    const { book } = lane
    book.received++
    book.pending++
    book.lastEventAt = trigger.receivedAt
    book.lastError = undefined
    this.#enter(trigger, lane)
  }

  book(server: string): ServerBook {
    let book = this.#books.get(server)
    if (!book) this.#books.set(server, (book = new ServerBook()))
    return book
  }

  idle(): Promise<void> {
    return this.#moving === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve))
  }

  reroute(): void {
    this.#routes.forget()
  }

  close(): void {
    this.#ended = true
    for (const trigger of this.#held.clear()) this.#lose(this.#routes.laneOf(trigger), trigger, ENDED)
    for (const lane of this.#routes.lanes) {
      lane.delivery?.giveUp()
      for (let trigger = lane.queue.take(); trigger; trigger = lane.queue.take()) {
        this.#moving--
        this.#lose(lane, trigger, ENDED)
      }
    }
  }

  #drop(raw: Omit<RawNotification, 'kind' | 'params'>, { reason, error }: Drop): void {
    const book = this.book(raw.server)
    book.received++
    book.dropped++
    book.lastEventAt = raw.receivedAt
    if (error !== undefined) book.lastError = error
    this.#say(book, dropStep(raw, reason))
  }

  #enter(trigger: Trigger, lane: Lane): void {
    if (this.#ended) return this.#lose(lane, trigger, ENDED)
    if (lane.policy === 'ignore') return this.#lose(lane, trigger, 'ignored')
    if (lane.queue.size >= MOST_WAITING)
      return this.#lose(lane, trigger, `more than ${MOST_WAITING} wait for ${lane.policy}`)
    this.#moving++
    lane.queue.add(trigger)
    pump(lane)
  }

  #claim(lane: Lane, trigger: Trigger): void {
    const { dedup } = this.#options.kernel.hooks
    if (
      this.#options.watchOnly ||
      dedup.taps.length === 0 ||
      (this.#early.size > 0 && this.#early.delete(trigger))
    )
      return this.#deliver(lane, trigger, undefined)
    dedup.callAsync({ trigger, scope: lane.scope }, lane.steps.onVerdict)
  }

  #judged(lane: Lane, trigger: Trigger, verdict: DedupVerdict | undefined): void {
    if (verdict?.verdict === 'duplicate')
      return this.#settle(lane, trigger, 'deduped', undefined, `duplicate of ${verdict.of}`)
    if (this.#ended) {
      if (verdict?.verdict === 'first') conclude(verdict, 'failed')
      return this.#settle(lane, trigger, 'dropped', undefined, ENDED)
    }
    if (verdict?.verdict !== 'later') return this.#deliver(lane, trigger, verdict)
    const replaced = this.#held.hold(trigger, verdict.until)
    if (replaced) this.#end(lane, replaced, 'collapsed', undefined, `into ${trigger.traceId}`)
    this.#say(lane.book, stepOf(lane, trigger, 'pending', undefined, 'until the window ends'))
    this.#next(lane)
  }

  #deliver(lane: Lane, trigger: Trigger, claim: Claim): void {
    if (this.#options.watchOnly) return this.#settle(lane, trigger, 'delivered', 'watch')
    if (!lane.sink) {
      conclude(claim, 'done')
      return lane.policy === 'log'
        ? this.#settle(lane, trigger, 'delivered', 'log')
        : this.#withoutSink(lane, trigger)
    }
    lane.claim = claim
    lane.delivery = new Delivery(lane.policy)
    lane.sink.callAsync(trigger, lane.delivery, lane.steps.onReceipt)
  }

  #answered(lane: Lane, trigger: Trigger, receipt: Receipt | undefined): void {
    const { claim, delivery } = lane
    lane.claim = undefined
    lane.delivery = undefined
    if (!receipt) {
      delivery?.giveUp()
      return this.#toInbox(lane, trigger, claim)
    }
    conclude(claim, 'done')
    this.#taken(lane, trigger, receipt)
  }

  #taken(lane: Lane, trigger: Trigger, receipt: Receipt): void {
    if (receipt.dropped !== undefined) this.#settle(lane, trigger, 'dropped', receipt.sink, receipt.dropped)
    else this.#settle(lane, trigger, receipt.redirected ? 'redirected' : 'delivered', receipt.sink)
  }

  #toInbox(lane: Lane, trigger: Trigger, claim: Claim): void {
    const { hooks, hasSink } = this.#options.kernel
    const lost = (): void => {
      conclude(claim, 'failed')
      this.#settle(lane, trigger, 'dropped', undefined, `not taken by ${lane.policy}`)
    }
    if (lane.policy === 'inbox' || !hasSink('inbox')) return lost()
    hooks.deliver.for('inbox').callAsync(trigger, new Delivery(lane.policy), (_error, receipt) => {
      if (!receipt) return lost()
      conclude(claim, 'done')
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

  #settle(lane: Lane, trigger: Trigger, state: FinalState, sink?: string, reason?: string): void {
    this.#end(lane, trigger, state, sink, reason)
    this.#next(lane)
  }

  #next(lane: Lane): void {
    lane.busy = false
    this.#moving--
    pump(lane)
    if (this.#moving === 0 && this.#idle.length > 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #lose(lane: Lane, trigger: Trigger, reason: string): void {
    this.#end(lane, trigger, 'dropped', undefined, reason)
  }

  #end(lane: Lane, trigger: Trigger, state: FinalState, sink?: string, reason?: string): void {
    const { book } = lane
    book.pending--
    book[state]++
    this.#say(book, stepOf(lane, trigger, state, sink, reason))
  }

  #say(book: ServerBook, said: TriggerEvent): void {
    if (said.state !== 'pending') book.remember(said)
    const { observe } = this.#options.kernel.hooks
    if (observe.taps.length > 0) observe.callAsync(said, ignore)
  }
}

function ignore(): void {}
