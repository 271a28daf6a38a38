import type { Trigger } from '../types/index.ts'

const MOST_HELD = 1_000
const MAX_TIMER_MS = 2_147_483_647

interface Held {
  trigger: Trigger
  readonly timer: NodeJS.Timeout
}

/** The newest trigger of each key that waits for the end of its window. */
export class HeldTriggers {
  readonly #held = new Map<string, Held>()
  readonly #release: (trigger: Trigger, early: boolean) => void

  /** `release` is called when a window ends, or `early` for the oldest when too many keys wait. */
  constructor(release: (trigger: Trigger, early: boolean) => void) {
    this.#release = release
  }

  /** Keeps `trigger` until `until` (milliseconds since the epoch); answers the older one it replaces. */
  hold(trigger: Trigger, until: number): Trigger | undefined {
    const earlier = this.#held.get(trigger.key)
    if (earlier) {
      const replaced = earlier.trigger
      earlier.trigger = trigger
      return replaced
    }
    const waitMs = Math.min(Math.max(0, until - Date.now()), MAX_TIMER_MS)
    const timer = setTimeout(() => this.#end(trigger.key, false), waitMs)
    timer.unref()
    this.#held.set(trigger.key, { trigger, timer })
    if (this.#held.size > MOST_HELD) this.#end(this.#held.keys().next().value as string, true)
    return undefined
  }

  /** Takes everything out without releasing it. */
  clear(): Trigger[] {
    const triggers = [...this.#held.values()].map(({ trigger, timer }) => {
      clearTimeout(timer)
      return trigger
    })
    this.#held.clear()
    return triggers
  }

  #end(key: string, early: boolean): void {
    const held = this.#held.get(key)
    if (!held) return
    clearTimeout(held.timer)
    this.#held.delete(key)
    this.#release(held.trigger, early)
  }
}
