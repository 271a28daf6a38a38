/** How long a call may take without a sign of life, and in all; in milliseconds. */
export interface CallLimits {
  readonly idleMs: number
  readonly capMs: number
}

/** The time that a call takes. It stands still while a person is asked something. */
export class CallClock {
  readonly #limits: CallLimits
  readonly #onIdle: () => void
  readonly #onCap: () => void
  #idle: NodeJS.Timeout | undefined
  #cap: NodeJS.Timeout | undefined
  #capLeft: number
  #since = 0
  #isOver = false

  /** Runs at once. */
  constructor(limits: CallLimits, onIdle: () => void, onCap: () => void) {
    this.#limits = limits
    this.#onIdle = onIdle
    this.#onCap = onCap
    this.#capLeft = limits.capMs
    this.resume()
  }

  /** A sign of life. */
  touch(): void {
    if (this.#cap === undefined) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(this.#onIdle, this.#limits.idleMs)
  }

  pause(): void {
    if (this.#cap === undefined) return
    this.#halt()
    this.#capLeft -= performance.now() - this.#since
  }

  /** Goes on: the server has all of its time again, and what was left in all. */
  resume(): void {
    if (this.#cap !== undefined || this.#isOver) return
    this.#since = performance.now()
    this.#cap = setTimeout(this.#onCap, Math.max(0, this.#capLeft))
    this.touch()
  }

  /** For good. */
  stop(): void {
    this.#isOver = true
    this.#halt()
  }

  #halt(): void {
    clearTimeout(this.#idle)
    clearTimeout(this.#cap)
    this.#cap = undefined
  }
}
