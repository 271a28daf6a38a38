import type { Finding } from './inbox.ts'

/** So many findings are held while the inbox cannot be written; what comes then is refused. */
const MOST_HELD = 1_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

/** What {@link Unwritten} takes. */
export interface UnwrittenOptions {
  /** Told when the first one has to wait, and why. */
  onHeld(error: unknown): void
  /** Told when all that had to wait are written. */
  onWritten(count: number): void
  /** Told of each that could not be written to the end. */
  onLost(finding: Finding, error: unknown): void
}

interface Held {
  readonly finding: Finding
  write(): Promise<unknown>
}

/** Holds in memory, in order, what the inbox could not take: a full disk is often a matter of minutes. */
export class Unwritten {
  readonly #options: UnwrittenOptions
  #held: Held[] = []
  #turn: Promise<unknown> = Promise.resolve()
  #written = 0
  #pause = FIRST_RETRY_MS
  #timer: NodeJS.Timeout | undefined
  #trying: Promise<unknown> | undefined

  constructor(options: UnwrittenOptions) {
    this.#options = options
  }

  /** Writes a finding, or holds it: what came before it goes first. Rejects when too many are held. */
  keep(finding: Finding, write: () => Promise<unknown>): Promise<void> {
    const kept = this.#turn.then(() => this.#keep(finding, write))
    this.#turn = kept.catch(() => undefined)
    return kept
  }

  async #keep(finding: Finding, write: () => Promise<unknown>): Promise<void> {
    try {
      if (this.#held.length === 0) return void (await write())
    } catch (thrown) {
      if (this.#held.length === 0) this.#options.onHeld(thrown)
    }
    if (this.#held.length >= MOST_HELD)
      throw new Error(`${MOST_HELD} findings wait already for an inbox that cannot be written`)
    this.#held.push({ finding, write })
    this.#wait()
  }

  /** Tries once more; what cannot be written now is lost. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    const error = await (this.#trying ??= this.#try())
    for (const { finding } of this.#held.splice(0)) this.#options.onLost(finding, error)
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => {
      this.#trying = this.#try().then((error) => {
        this.#trying = undefined
        this.#timer = undefined
        this.#pause = error === undefined ? FIRST_RETRY_MS : Math.min(this.#pause * 2, LONGEST_RETRY_MS)
        if (this.#held.length > 0) this.#wait()
        return error
      })
    }, this.#pause).unref()
  }

  /** Answers what stood in the way, if anything did. */
  async #try(): Promise<unknown> {
    for (let next = this.#held[0]; next; next = this.#held[0]) {
      try {
        await next.write()
      } catch (thrown) {
        return thrown
      }
      this.#held.shift()
      this.#written++
    }
    if (this.#written > 0) this.#options.onWritten(this.#written)
    this.#written = 0
    return undefined
  }
}
