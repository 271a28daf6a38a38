import type { Overflow, Trigger } from '../types/index.ts'

/** The inbox is told of what exceeds a limit at once, and then no more often than this. */
const TELL_EVERY_MS = 1_000
/** What exceeds a limit this long after the first that did so is a matter of its own. */
const LONGEST_MS = 3_600_000

/** Hands on the newest of some triggers with how many there are; resolves when the inbox has answered. */
type Tell = (triggers: readonly Trigger[], overflow: Overflow) => Promise<void>

/** Gathers what exceeds one limit, so that a flood becomes one line that says how many. */
export class OverflowGatherer {
  readonly #limit: string | undefined
  readonly #tell: Tell
  #waiting: Trigger[] = []
  #count = 0
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #telling: Promise<void> | undefined

  /** `limit` is absent for what had no turn before the session ended. */
  constructor(limit: string | undefined, tell: Tell) {
    this.#limit = limit
    this.#tell = tell
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#telling === undefined
  }

  add(trigger: Trigger): void {
    const now = Date.now()
    if (Math.abs(now - this.#since) > LONGEST_MS) {
      this.#count = 0
      this.#since = now
    }
    this.#count++
    this.#waiting.push(trigger)
    // What had no turn is all there at once, and handed on together.
    if (this.#limit !== undefined && this.#timer === undefined) this.#telling ??= this.#hand()
  }

  /** Hands on what waits without waiting for the next second. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#telling
    if (this.#waiting.length === 0) return
    this.#telling ??= this.#hand()
    await this.#telling
  }

  /** Takes out what was not handed on. */
  abandon(): readonly Trigger[] {
    clearTimeout(this.#timer)
    return this.#waiting.splice(0)
  }

  async #hand(): Promise<void> {
    const triggers = this.#waiting
    this.#waiting = []
    const limit = this.#limit
    await this.#tell(triggers, {
      count: this.#count,
      ...(limit === undefined ? {} : { limit }),
      since: this.#since,
    })
    this.#telling = undefined
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#waiting.length > 0) this.#telling ??= this.#hand()
    }, TELL_EVERY_MS)
    this.#timer.unref()
  }
}
