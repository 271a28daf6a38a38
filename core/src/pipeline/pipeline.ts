import { settledWithin } from '../bounded.ts'
import type { DedupVerdict, Frame, Receipt, Trigger } from '../types/index.ts'
import { Accounts, type FinalState } from './accounts.ts'
import type { ServerBook } from './book.ts'
import { type Claim, conclude } from './claim.ts'
import { elsewhere } from './company.ts'
import { Delivery } from './delivery.ts'
import { type HeldTrigger, HeldTriggers } from './held.ts'
import { type Lane, pump, takeOut } from './lane.ts'
import { mapped, soundEvent } from './notice.ts'
import type { Pipeline, PipelineOptions } from './options.ts'
import type { OverflowGatherer } from './overflow.ts'
import { ENDED, gathererOf, toInbox } from './redirection.ts'
import { Routes } from './routes.ts'

/** A lane with this many waiting refuses more: its sink is stuck or drowning. */
const MOST_WAITING = 10_000
const ELSEWHERE = `${ENDED}; another has it`
const LAST_DELIVERIES_MS = 2_000
/** Then for the inbox to take what is left. */
const LAST_LINES_MS = 1_000

/** A pipeline: notify → dedup → deliver, in arrival order for each server and sink. */
export function createPipeline(options: PipelineOptions): Pipeline {
  return new NotificationPipeline(options)
}

class NotificationPipeline implements Pipeline {
  readonly #options: PipelineOptions
  readonly #accounts: Accounts
  readonly #routes: Routes
  /** What has waited: the dedup hook is told so. `now` is delivered without asking: it would be asked to wait again. */
  readonly #released = new Map<Trigger, 'held' | 'now'>()
  readonly #held = new HeldTriggers((held, early) => this.#release(held, early ? 'now' : 'held'))
  #idle: (() => void)[] = []
  #moving = 0
  #ending: Promise<void> | undefined
  #closing = false
  #ended = false

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#accounts = new Accounts(options.kernel.hooks)
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
    const { params } = frame
    const notice = mapped(this.#options.kernel.hooks, { kind: 'raw', server, method, params, receivedAt })
    if (notice.kind === 'trigger') this.#admit(notice)
    else if (notice.kind === 'handled') this.book(server).handled++
    else this.#accounts.drop({ server, method, receivedAt }, notice)
  }

  admit(trigger: Trigger): void {
    this.#admit(soundEvent(trigger))
  }

  #admit(trigger: Trigger): void {
    const lane = this.#routes.laneOf(trigger)
    this.#accounts.begin(lane.book, trigger)
    if (this.#closing) this.#lose(lane, trigger, ENDED)
    else this.#enter(trigger, lane)
  }

  book(server: string): ServerBook {
    return this.#accounts.book(server)
  }

  idle(): Promise<void> {
    return this.#moving === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve))
  }

  reroute(): void {
    this.#routes.forget()
  }

  close(): Promise<void> {
    return (this.#ending ??= this.#end())
  }

  async #end(): Promise<void> {
    this.#closing = true
    this.#options.onEnding?.()
    const isElsewhere = elsewhere(this.#options.hasCompany)
    for (const held of this.#held.clear()) {
      if (isElsewhere(held.lane)) this.#lose(held.lane, held.trigger, ELSEWHERE)
      else this.#release(held, 'now')
    }
    await settledWithin(LAST_DELIVERIES_MS, () => this.#quiet())
    this.#ended = true
    for (const lane of this.#routes.lanes) {
      lane.delivery?.giveUp()
      for (const [trigger, claim] of takeOut(lane)) {
        this.#moving--
        conclude(claim, isElsewhere(lane) ? 'failed' : 'done')
        if (isElsewhere(lane)) this.#lose(lane, trigger, ELSEWHERE)
        else this.#exceed(lane, trigger, undefined)
      }
    }
    await settledWithin(LAST_LINES_MS, () => this.#quiet())
    for (const lane of this.#routes.lanes)
      for (const gatherer of lane.overflows.values())
        for (const trigger of gatherer.abandon()) this.#lose(lane, trigger, ENDED)
  }

  /** Resolves when nothing is on its way and the inbox has been told of everything. */
  async #quiet(): Promise<void> {
    let gatherers: OverflowGatherer[]
    do {
      gatherers = [...this.#routes.lanes].flatMap(({ overflows }) => [...overflows.values()])
      await Promise.all([this.idle(), ...gatherers.map((gatherer) => gatherer.flush())])
    } while (this.#moving > 0 || gatherers.some(({ isEmpty }) => !isEmpty))
  }

  #release(held: HeldTrigger, how: 'held' | 'now'): void {
    const { trigger, of } = held
    // The policies may have changed since.
    const lane = this.#routes.laneOf(trigger)
    // Whoever has claimed it is delivering it: it is not lost here.
    if (how === 'now' && of !== undefined)
      return this.#accounts.end(lane, trigger, 'deduped', undefined, `duplicate of ${of}`)
    if (lane.policy !== 'ignore' && lane.queue.size < MOST_WAITING) this.#released.set(trigger, how)
    this.#enter(trigger, lane)
  }

  #enter(trigger: Trigger, lane: Lane): void {
    if (lane.policy === 'ignore') return this.#lose(lane, trigger, 'ignored')
    if (lane.queue.size >= MOST_WAITING) return this.#exceed(lane, trigger, `${MOST_WAITING} waiting`)
    this.#moving++
    lane.queue.add(trigger)
    pump(lane)
  }

  #claim(lane: Lane, trigger: Trigger): void {
    const { dedup } = this.#options.kernel.hooks
    const released = this.#released.size > 0 ? this.#released.get(trigger) : undefined
    if (released !== undefined) this.#released.delete(trigger)
    if (this.#options.watchOnly || dedup.taps.length === 0 || released === 'now')
      return this.#deliver(lane, trigger, undefined)
    const { scope, policy } = lane
    const request = { trigger, scope, policy }
    dedup.callAsync(released === 'held' ? { ...request, held: true } : request, lane.steps.onVerdict)
  }

  #judged(lane: Lane, trigger: Trigger, verdict: DedupVerdict | undefined): void {
    if (verdict?.verdict === 'duplicate')
      return this.#settle(lane, trigger, 'deduped', undefined, `duplicate of ${verdict.of}`)
    if (verdict?.verdict === 'drop') return this.#settle(lane, trigger, 'dropped', undefined, verdict.reason)
    if (verdict?.verdict !== 'later') return this.#deliver(lane, trigger, verdict)
    if (this.#ended) return this.#settle(lane, trigger, 'dropped', undefined, ENDED)
    const { until, of } = verdict
    if (this.#closing) {
      if (of === undefined) return this.#deliver(lane, trigger, undefined)
      return this.#settle(lane, trigger, 'deduped', undefined, `duplicate of ${of}`)
    }
    const replaced = this.#held.hold({ trigger, lane, of }, until)
    if (replaced)
      this.#accounts.end(replaced.lane, replaced.trigger, 'collapsed', undefined, `into ${trigger.traceId}`)
    this.#accounts.wait(
      lane,
      trigger,
      of === undefined ? 'until the window ends' : `for what becomes of ${of}`,
    )
    this.#next(lane)
  }

  #deliver(lane: Lane, trigger: Trigger, claim: Claim): void {
    if (this.#options.watchOnly) return this.#settle(lane, trigger, 'delivered', 'watch')
    const { limit } = lane
    if (!limit || this.#ended) return this.#hand(lane, trigger, claim)
    const asked = (lane.asked = { claim })
    limit.take((taken) => {
      if (lane.asked !== asked) return
      lane.asked = undefined
      if (taken) return this.#hand(lane, trigger, claim)
      conclude(claim, 'done')
      this.#exceed(lane, trigger, limit.written)
      this.#next(lane)
    })
  }

  #hand(lane: Lane, trigger: Trigger, claim: Claim): void {
    if (this.#ended) {
      conclude(claim, 'failed')
      return this.#settle(lane, trigger, 'dropped', undefined, ENDED)
    }
    if (!lane.sink) {
      conclude(claim, 'done')
      if (lane.policy === 'log') return this.#settle(lane, trigger, 'delivered', 'log')
      return this.#settle(lane, trigger, 'dropped', undefined, 'no sink')
    }
    lane.claim = claim
    lane.delivery = new Delivery(lane.policy)
    lane.sink.callAsync(trigger, lane.delivery, lane.steps.onReceipt)
  }

  #answered(lane: Lane, trigger: Trigger, receipt: Receipt | undefined): void {
    const { claim, delivery } = lane
    lane.claim = undefined
    lane.delivery = undefined
    if (!receipt || receipt.refused !== undefined) {
      delivery?.giveUp()
      return this.#redirect(lane, trigger, claim, receipt?.refused ?? `not taken by ${lane.policy}`)
    }
    conclude(claim, 'done')
    if (receipt.dropped !== undefined) this.#settle(lane, trigger, 'dropped', receipt.sink, receipt.dropped)
    else this.#settle(lane, trigger, receipt.redirected ? 'redirected' : 'delivered', receipt.sink)
  }

  /** To the inbox, because its own sink did not take it. */
  #redirect(lane: Lane, trigger: Trigger, claim: Claim, reason: string): void {
    const settle = (receipt?: Receipt): void => {
      conclude(claim, receipt ? 'done' : 'failed')
      this.#settle(lane, trigger, receipt ? 'redirected' : 'dropped', receipt?.sink, reason)
    }
    if (lane.policy === 'inbox') settle()
    else toInbox(this.#options.kernel, trigger, new Delivery(lane.policy, reason), settle)
  }

  #exceed(lane: Lane, trigger: Trigger, limit: string | undefined): void {
    gathererOf(lane, limit, this.#options.kernel, this.#accounts).add(trigger)
  }

  #settle(lane: Lane, trigger: Trigger, state: FinalState, sink?: string, reason?: string): void {
    this.#accounts.end(lane, trigger, state, sink, reason)
    this.#next(lane)
  }

  #next(lane: Lane): void {
    lane.busy = false
    this.#moving--
    pump(lane)
    if (this.#moving === 0 && this.#idle.length > 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #lose(lane: Lane, trigger: Trigger, reason: string): void {
    this.#accounts.end(lane, trigger, 'dropped', undefined, reason)
  }
}
