import type { Trigger } from '../types/index.ts'
import type { Lane } from './lane.ts'

const MOST_HELD = 1_000
const MAX_TIMER_MS = 2_147_483_647

/** A trigger that waits, and for what. */
export interface HeldTrigger {
  readonly trigger: Trigger
  /** Where it was on its way when it was told to wait. */
  readonly lane: Lane
  /** The trace id of the claim that it waits for; absent where it waits for the end of its window. */
  readonly of: string | undefined
}

/** The newest trigger of each key that waits: for the end of its window, or for what becomes of another's claim. */
export class HeldTriggers {
  readonly #held = new Map<string, { held: HeldTrigger; readonly timer: NodeJS.Timeout }>()
  readonly #release: (held: HeldTrigger, early: boolean) => void

  /** `release` is called when the wait ends, or `early` for the oldest when too many keys wait. */
  constructor(release: (held: HeldTrigger, early: boolean) => void) {
    this.#release = release
  }

  /** Keeps a trigger until `until` (milliseconds since the epoch); answers the older one that it replaces. */
  hold(held: HeldTrigger, until: number): HeldTrigger | undefined {
    const key = keyOf(held)
    const earlier = this.#held.get(key)
    if (earlier) {
      const replaced = earlier.held
      earlier.held = held
      return replaced
    }
    const waitMs = Math.min(Math.max(0, until - Date.now()), MAX_TIMER_MS)
    const timer = setTimeout(() => this.#end(key, false), waitMs)
    timer.unref()
    this.#held.set(key, { held, timer })
    if (this.#held.size > MOST_HELD) this.#end(this.#held.keys().next().value as string, true)
    return undefined
  }

  /** Takes everything out without releasing it. */
  clear(): HeldTrigger[] {
    const all = [...this.#held.values()]
    for (const { timer } of all) clearTimeout(timer)
    this.#held.clear()
    return all.map(({ held }) => held)
  }

  #end(key: string, early: boolean): void {
    const ended = this.#held.get(key)
    if (!ended) return
    clearTimeout(ended.timer)
    this.#held.delete(key)
    this.#release(ended.held, early)
  }
}

/** Events are equal inside one window, and there is one of each scope. */
function keyOf({ trigger, lane }: HeldTrigger): string {
  return `${lane.scope} ${trigger.key}`
}
