import type { PushCounts, TriggerEvent } from '../types/index.ts'

const RECENT = 100

/** The books of one server: every event that arrived and what became of it. */
export class ServerBook {
  received = 0
  delivered = 0
  redirected = 0
  deduped = 0
  collapsed = 0
  dropped = 0
  pending = 0
  handled = 0
  lastEventAt: number | undefined
  lastError: string | undefined
  #recent: TriggerEvent[] = []
  #next = 0

  get counts(): PushCounts {
    const { received, delivered, redirected, deduped, collapsed, dropped, pending, handled } = this
    return { received, delivered, redirected, deduped, collapsed, dropped, pending, handled }
  }

  /** The last events in their final states, oldest first. */
  get recent(): readonly TriggerEvent[] {
    return [...this.#recent.slice(this.#next), ...this.#recent.slice(0, this.#next)]
  }

  remember(event: TriggerEvent): void {
    if (this.#recent.length < RECENT) {
      this.#recent.push(event)
      return
    }
    this.#recent[this.#next] = event
    this.#next = (this.#next + 1) % RECENT
  }
}
