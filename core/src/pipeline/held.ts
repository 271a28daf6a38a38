import type { Trigger } from '../types/index.ts'

const MOST_HELD = 1_000
const MAX_TIMER_MS = 2_147_483_647

/** A trigger that waits, and for what. */
export interface HeldTrigger {
  readonly trigger: Trigger
  /** The trace id of the claim that it waits for; absent where it waits for the end of its window. */
  readonly of: string | undefined
}

interface Held {
  trigger: Trigger
  of: string | undefined
  readonly timer: NodeJS.Timeout
}

/** The newest trigger of each key that waits: for the end of its window, or for what becomes of another's claim. */
export class HeldTriggers {
  readonly #held = new Map<string, Held>()
  readonly #release: (held: HeldTrigger, early: boolean) => void

  /** `release` is called when the wait ends, or `early` for the oldest when too many keys wait. */
  constructor(release: (held: HeldTrigger, early: boolean) => void) {
    this.#release = release
  }

  /** Keeps `trigger` until `until` (milliseconds since the epoch); answers the older one it replaces. */
  hold(trigger: Trigger, until: number, of?: string): Trigger | undefined {
    const earlier = this.#held.get(trigger.key)
    if (earlier) {
      const replaced = earlier.trigger
      earlier.trigger = trigger
      earlier.of = of
      return replaced
    }
    const waitMs = Math.min(Math.max(0, until - Date.now()), MAX_TIMER_MS)
    const timer = setTimeout(() => this.#end(trigger.key, false), waitMs)
    timer.unref()
    this.#held.set(trigger.key, { trigger, of, timer })
    if (this.#held.size > MOST_HELD) this.#end(this.#held.keys().next().value as string, true)
    return undefined
  }

  /** Takes everything out without releasing it. */
  clear(): HeldTrigger[] {
    const held = [...this.#held.values()]
    for (const { timer } of held) clearTimeout(timer)
    this.#held.clear()
    return held
  }

  #end(key: string, early: boolean): void {
    const held = this.#held.get(key)
    if (!held) return
    clearTimeout(held.timer)
    this.#held.delete(key)
    this.#release(held, early)
  }
}
