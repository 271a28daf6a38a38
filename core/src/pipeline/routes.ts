import type { PushPolicy, PushRule, Trigger } from '../types/index.ts'
import type { ServerBook } from './book.ts'
import { createLane, type Lane, type LaneSteps } from './lane.ts'
import type { PipelineOptions } from './options.ts'
import { BUILT_IN_POLICIES, ruleOf } from './policies.ts'

/** Methods that a server may invent are remembered up to this many. */
const MOST_ROUTES = 256

type RouteOptions = Pick<
  PipelineOptions,
  'kernel' | 'policyFor' | 'sharedLimit' | 'watchOnly' | 'onMissingSink'
>

/** Which lane each trigger takes: one for each server and policy, made when first needed. */
export class Routes {
  readonly #options: RouteOptions
  readonly #bookOf: (server: string) => ServerBook
  readonly #steps: (lane: Lane) => LaneSteps
  readonly #routes = new Map<string, Map<string, Lane>>()
  /** By the entry of the configuration that they belong to: two entries that say the same are two. */
  readonly #ofRules = new WeakMap<PushRule, Map<string, Lane>>()
  readonly #ofPolicies = new Map<PushPolicy, Map<string, Lane>>()
  readonly #lanes = new Set<Lane>()
  readonly #missing = new Set<string>()

  constructor(
    options: RouteOptions,
    bookOf: (server: string) => ServerBook,
    steps: (lane: Lane) => LaneSteps,
  ) {
    this.#options = options
    this.#bookOf = bookOf
    this.#steps = steps
  }

  get lanes(): Iterable<Lane> {
    return this.#lanes
  }

  /** What is on its way stays on its lane; for what comes later, policies are asked for anew. */
  forget(): void {
    this.#routes.clear()
  }

  laneOf(trigger: Trigger): Lane {
    const { server, method, policy: own } = trigger
    if (own !== undefined) return this.#lane(trigger, own)
    let routes = this.#routes.get(server)
    if (!routes) this.#routes.set(server, (routes = new Map()))
    const known = routes.get(method)
    if (known) return known
    const lane = this.#lane(trigger, this.#options.policyFor(server, method))
    if (routes.size < MOST_ROUTES) routes.set(method, lane)
    return lane
  }

  /** Methods that one entry of the configuration is about share a lane, and with it the entry's limit. */
  #lane({ server, source }: Trigger, written: PushPolicy | PushRule): Lane {
    const lanes = this.#lanesOf(written)
    // A server may be named like a source of another kind.
    const name = source === 'mcp' ? server : `${source}\n${server}`
    let lane = lanes.get(name)
    if (!lane) {
      const { hooks, hasSink } = this.#options.kernel
      const rule = ruleOf(written)
      const sink = hasSink(rule.policy) ? hooks.deliver.for(rule.policy) : undefined
      const book = this.#bookOf(server)
      if (!sink) this.#miss(rule.policy, server)
      const shared = this.#options.sharedLimit
      lane = createLane(
        { server, book, sink },
        rule,
        source === 'mcp',
        (limit, parsed) => shared?.(name, written, limit, parsed),
        this.#steps,
      )
      lanes.set(name, lane)
      this.#lanes.add(lane)
    }
    return lane
  }

  #miss(policy: string, server: string): void {
    const { watchOnly, onMissingSink } = this.#options
    if (watchOnly || BUILT_IN_POLICIES.some((one) => one === policy) || this.#missing.has(policy)) return
    this.#missing.add(policy)
    onMissingSink?.(policy, server)
  }

  #lanesOf(written: PushPolicy | PushRule): Map<string, Lane> {
    const known = typeof written === 'string' ? this.#ofPolicies.get(written) : this.#ofRules.get(written)
    if (known) return known
    const lanes = new Map<string, Lane>()
    if (typeof written === 'string') this.#ofPolicies.set(written, lanes)
    else this.#ofRules.set(written, lanes)
    return lanes
  }
}
