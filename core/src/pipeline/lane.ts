import type { AsyncSeriesBailHook } from 'tapable'
import type {
  DedupRequest,
  DedupVerdict,
  DeliverContext,
  Receipt,
  Trigger,
  TriggerEvent,
  TriggerState,
  PushRule,
} from '../types/index.ts'
import type { ServerBook } from './book.ts'
import type { Claim } from './claim.ts'
import type { Delivery } from './delivery.ts'
import { type Limit, OwnLimit, parseLimit, type RateLimit, usualLimit } from './limit.ts'
import type { OverflowGatherer } from './overflow.ts'
import { Queue } from './queue.ts'

/** Triggers of one server on their way to one sink: handled one after the other, in arrival order. */
export interface Lane {
  readonly server: string
  readonly book: ServerBook
  readonly policy: string
  readonly scope: DedupRequest['scope']
  /** Undefined where no plugin provides this sink. */
  readonly sink: AsyncSeriesBailHook<[Trigger, DeliverContext], Receipt | undefined> | undefined
  /** How much it lets through; undefined where there is no limit. */
  readonly limit: RateLimit | undefined
  readonly queue: Queue<Trigger>
  /** What exceeded the limit, found too many waiting or had no turn: by which of these, made when first needed. */
  readonly overflows: Map<string, OverflowGatherer>
  readonly steps: LaneSteps
  /** What is being handled while the lane is busy. */
  current: Trigger | undefined
  delivery: Delivery | undefined
  claim: Claim
  /** What the limit is asked about, with its claim; another, or none, when the answer came too late. */
  asked: { readonly claim: Claim } | undefined
  busy: boolean
  pumping: boolean
}

/** What a lane does with one trigger. Made once a lane, so that a trigger costs no closure. */
export interface LaneSteps {
  begin(trigger: Trigger): void
  onVerdict(error: unknown, verdict?: DedupVerdict): void
  onReceipt(error: unknown, receipt?: Receipt): void
}

/** Policies of which every window has its own: what is shown is shown in each. A channel settles itself who takes a turn. */
const OF_EVERY_WINDOW: ReadonlySet<string> = new Set(['summary', 'run', 'channel', 'log', 'ignore'])

/**
 * A lane with nothing in it. `limited` is false for sources that are no servers: their events are the person's own.
 * `sharedLimit` answers the limit of what only one window delivers.
 */
export function createLane(
  lane: Pick<Lane, 'server' | 'book' | 'sink'>,
  { policy, windows, limit: written }: PushRule,
  limited: boolean,
  sharedLimit: (written: string, limit: Limit) => RateLimit | undefined,
  steps: (lane: Lane) => LaneSteps,
): Lane {
  const shared = windows === undefined ? !OF_EVERY_WINDOW.has(policy) : windows === 'owner'
  const made = {
    ...lane,
    policy,
    scope: shared ? 'project' : 'process',
    limit: limitOf(written ?? (limited ? usualLimit(policy) : undefined), shared ? sharedLimit : undefined),
    queue: new Queue<Trigger>(),
    overflows: new Map<string, OverflowGatherer>(),
    current: undefined,
    delivery: undefined,
    claim: undefined,
    asked: undefined,
    busy: false,
    pumping: false,
  } as Omit<Lane, 'steps'>
  return Object.assign(made, { steps: steps(made as Lane) })
}

function limitOf(
  written: string | undefined,
  shared: ((written: string, limit: Limit) => RateLimit | undefined) | undefined,
): RateLimit | undefined {
  const limit = written === undefined ? undefined : parseLimit(written)
  if (written === undefined || !limit) return undefined
  return shared?.(written, limit) ?? new OwnLimit(written, limit)
}

/**
 * Steps through the lane until it is empty or a step has to wait. Steps that need not wait run in
 * one loop, without a promise and without recursion.
 */
export function pump(lane: Lane): void {
  if (lane.pumping) return
  lane.pumping = true
  while (!lane.busy) {
    const trigger = lane.queue.take()
    if (trigger === undefined) break
    lane.busy = true
    lane.current = trigger
    lane.steps.begin(trigger)
  }
  lane.pumping = false
}

/** Takes out what has not reached the sink, with the claims on it: what the limit is asked about, and what waits. */
export function* takeOut(lane: Lane): Iterable<readonly [Trigger, Claim]> {
  const { asked, current, queue } = lane
  lane.asked = undefined
  if (asked && current) yield [current, asked.claim]
  for (let trigger = queue.take(); trigger; trigger = queue.take()) yield [trigger, undefined]
}

/** One step of a trigger on its lane, as observers see it. */
export function stepOf(
  lane: Lane,
  trigger: Trigger,
  state: TriggerState,
  sink?: string,
  reason?: string,
): TriggerEvent {
  const { traceId, server, method, key, summary } = trigger
  const { policy } = lane
  const ts = Date.now()
  // The common case, a delivery, is written out: one object for each event, not two.
  if (sink !== undefined && reason === undefined)
    return { ts, traceId, server, method, key, policy, summary, state, sink }
  return {
    ts,
    traceId,
    server,
    method,
    key,
    policy,
    summary,
    state,
    ...(sink === undefined ? {} : { sink }),
    ...(reason === undefined ? {} : { reason }),
  }
}
