import type { Overflow, Trigger } from '../types/index.ts'

/** The inbox is told of what exceeds a limit at once, and then no more often than this. */
const TELL_EVERY_MS = 1_000
/** What exceeds a limit this long after the first that did so is a matter of its own. */
const LONGEST_MS = 3_600_000

/** Hands on the newest of some triggers with how many there are; resolves when the inbox has answered. */
type Tell = (triggers: readonly Trigger[], overflow: Overflow) => Promise<void>

/** Gathers what exceeds a limit, so that a flood becomes one line that says how many. */
export class OverflowGatherer {
  readonly #tell: Tell
  #limit = ''
  #waiting: Trigger[] = []
  #count = 0
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #telling: Promise<void> | undefined

  constructor(tell: Tell) {
    this.#tell = tell
  }

  add(trigger: Trigger, limit: string): void {
    const now = Date.now()
    if (limit !== this.#limit || Math.abs(now - this.#since) > LONGEST_MS) {
      this.#limit = limit
      this.#count = 0
      this.#since = now
    }
    this.#count++
    this.#waiting.push(trigger)
    if (this.#timer === undefined && this.#telling === undefined) this.#telling = this.#hand()
  }

  /** Hands on what waits without waiting for the next second. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#telling
    await this.#hand()
  }

  async #hand(): Promise<void> {
    const triggers = this.#waiting
    if (triggers.length === 0) return
    this.#waiting = []
    await this.#tell(triggers, { count: this.#count, limit: this.#limit, since: this.#since })
    this.#telling = undefined
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#waiting.length > 0) this.#telling ??= this.#hand()
    }, TELL_EVERY_MS)
    this.#timer.unref()
  }
}
