import type { AsyncSeriesBailHook } from 'tapable'
import type { DedupRequest, DeliverContext, Receipt, Trigger, TriggerEvent, TriggerState } from '../types/index.ts'
import { Queue } from './queue.ts'

/** Triggers of one server on their way to one sink: handled one after the other, in arrival order. */
export interface Lane {
  readonly server: string
  readonly policy: string
  readonly scope: DedupRequest['scope']
  /** Undefined where no plugin provides this sink. */
  readonly sink: AsyncSeriesBailHook<[Trigger, DeliverContext], Receipt | undefined> | undefined
  readonly context: DeliverContext
  readonly queue: Queue<Trigger>
  busy: boolean
  pumping: boolean
}

/** A lane with nothing in it. */
export function createLane(lane: Pick<Lane, 'server' | 'policy' | 'sink' | 'context'>): Lane {
  return {
    ...lane,
    // Rules are evaluated once per project; everything that is shown is shown in every window.
    scope: lane.policy === 'rules' ? 'project' : 'process',
    queue: new Queue<Trigger>(),
    busy: false,
    pumping: false,
  }
}

/**
 * Steps through the lane until it is empty or a step has to wait. Steps that need not wait run in
 * one loop, without a promise and without recursion.
 */
export function pump(lane: Lane, step: (trigger: Trigger) => void): void {
  if (lane.pumping) return
  lane.pumping = true
  while (!lane.busy) {
    const trigger = lane.queue.take()
    if (trigger === undefined) break
    lane.busy = true
    step(trigger)
  }
  lane.pumping = false
}

/** One step of a trigger on its lane, as observers see it. */
export function stepOf(lane: Lane, trigger: Trigger, state: TriggerState, sink?: string, reason?: string): TriggerEvent {
  const { traceId, server, method, key, summary } = trigger
  const step = { ts: Date.now(), traceId, server, method, key, policy: lane.policy, summary, state }
  if (sink === undefined) return reason === undefined ? step : { ...step, reason }
  return reason === undefined ? { ...step, sink } : { ...step, sink, reason }
}
