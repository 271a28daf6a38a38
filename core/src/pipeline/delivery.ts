import type { DeliverContext, Overflow } from '../types/index.ts'

/** What one sink is told of one trigger. The signal is made only for a sink that looks at it. */
export class Delivery implements DeliverContext {
  readonly policy: string
  readonly reason?: string
  readonly overflow?: Overflow
  #controller: AbortController | undefined
  #over = false

  constructor(policy: string, reason?: string, overflow?: Overflow) {
    this.policy = policy
    if (reason !== undefined) this.reason = reason
    if (overflow !== undefined) this.overflow = overflow
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#over) this.#controller.abort()
    return this.#controller.signal
  }

  /** The trigger goes elsewhere, or the session ends: whatever the sink still does would be too late. */
  giveUp(): void {
    this.#over = true
    this.#controller?.abort()
  }
}
