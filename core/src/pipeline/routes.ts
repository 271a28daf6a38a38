import type { Kernel } from '../kernel/index.ts'
import type { PushPolicy, Trigger } from '../types/index.ts'
import { createLane, type Lane, type LaneSteps } from './lane.ts'

/** Methods that a server may invent are remembered up to this many. */
const MOST_ROUTES = 256

/** Which lane each trigger takes: one for each server and policy, made when first needed. */
export class Routes {
  readonly #kernel: Pick<Kernel, 'hooks' | 'hasSink'>
  readonly #policyFor: (server: string, method: string) => PushPolicy
  readonly #signal: AbortSignal
  readonly #steps: (lane: Lane) => LaneSteps
  readonly #routes = new Map<string, Map<string, Lane>>()
  readonly #lanes = new Map<string, Lane>()

  constructor(
    kernel: Pick<Kernel, 'hooks' | 'hasSink'>,
    policyFor: (server: string, method: string) => PushPolicy,
    signal: AbortSignal,
    steps: (lane: Lane) => LaneSteps,
  ) {
    this.#kernel = kernel
    this.#policyFor = policyFor
    this.#signal = signal
    this.#steps = steps
  }

  get lanes(): Iterable<Lane> {
    return this.#lanes.values()
  }

  laneOf({ server, method }: Trigger): Lane {
    let routes = this.#routes.get(server)
    if (!routes) this.#routes.set(server, (routes = new Map()))
    const known = routes.get(method)
    if (known) return known
    const policy = this.#policyFor(server, method)
    const name = `${server}\n${policy}`
    let lane = this.#lanes.get(name)
    if (!lane) {
      const { hooks, hasSink } = this.#kernel
      const sink = hasSink(policy) ? hooks.deliver.for(policy) : undefined
      lane = createLane({ server, policy, sink, context: { policy, signal: this.#signal } }, this.#steps)
      this.#lanes.set(name, lane)
    }
    if (routes.size < MOST_ROUTES) routes.set(method, lane)
    return lane
  }
}
