import { setImmediate } from 'node:timers/promises'
import { messageOf, TaplineError } from '../../errors.ts'
import type { Elicit, ElicitationAnswer } from '../../types/index.ts'
import { requiredBy } from './required.ts'

/** So many addresses are remembered of which a server may still say that all is done there. */
const MOST_DONE = 64
/** A server that wants one address opened after the other is not asked again. */
const MOST_ROUNDS = 3

/** The time of a call, which stands still while the person is asked. */
interface Clock {
  pause(): void
  resume(): void
}

/** What a question may be about: the calls that ran when it came and still do, and whether one of them has failed. */
interface About {
  readonly calls: Set<Clock>
  failed: boolean
}

/** What one connection's server asks of the person, and the calls that wait for it. */
export class Questions {
  readonly #server: string
  readonly #elicit: Elicit | undefined
  readonly #clocks = new Set<Clock>()
  readonly #open = new Map<AbortController, About>()
  readonly #done = new Map<string, AbortController>()
  #ended = false

  constructor(server: string, elicit: Elicit | undefined) {
    this.#server = server
    this.#elicit = elicit
  }

  /**
   * Asks what the params of `elicitation/create` say. `waits`: the answer is wanted when all is done. The answer is
   * `cancel` when `signal` aborts, and when whoever asks fails. Rejects with a TaplineError where they ask nothing.
   */
  async ask(params: unknown, signal: AbortSignal, waits: boolean): Promise<ElicitationAnswer> {
    const elicit = this.#elicit
    if (!elicit) throw new Error('Nobody is asked here.')
    const stop = new AbortController()
    const gone = AbortSignal.any([signal, stop.signal])
    this.#opened(stop)
    try {
      const { fittingAnswer, questionOf } = await import('./question.ts')
      const question = this.#worded(() => questionOf(params, { waits, done: this.#doneOf(params) }))
      const aborted = new Promise<ElicitationAnswer>((resolve) => {
        if (gone.aborted) resolve(CANCEL)
        gone.addEventListener('abort', () => resolve(CANCEL), { once: true })
      })
      const asked = gone.aborted ? aborted : (async () => elicit(question, gone))().catch(() => CANCEL)
      const answer = await Promise.race([asked, aborted])
      return this.#worded(() => fittingAnswer(question, answer))
    } finally {
      this.#closed(stop)
    }
  }

  /** Takes the params of `notifications/elicitation/complete`. */
  completed(params: Readonly<Record<string, unknown>> | undefined): void {
    const id = params?.['elicitationId']
    if (typeof id === 'string') this.#done.get(id)?.abort()
  }

  /**
   * A call begins. Answers what is to be done at its end: a question is over when none of the calls runs any more that it
   * may be about, and one of them has failed.
   */
  began(clock: Clock): (failed: boolean) => void {
    this.#clocks.add(clock)
    if (this.#open.size > 0) clock.pause()
    return (failed) => {
      this.#clocks.delete(clock)
      for (const [stop, about] of this.#open) {
        if (!about.calls.delete(clock)) continue
        about.failed ||= failed
        if (about.failed && about.calls.size === 0) stop.abort()
      }
    }
  }

  /**
   * Runs a request. One that a server does not answer before addresses have been opened (error -32042 of revision
   * 2025-11-25) is sent again when the person has done so.
   */
  async fulfilling<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    for (let round = 1; ; round++) {
      try {
        return await send()
      } catch (thrown) {
        const required = this.#elicit && round <= MOST_ROUNDS ? requiredBy(thrown) : undefined
        if (!required || signal.aborted) throw thrown
        for (const params of required) await this.#openFirst(params, signal, thrown)
      }
    }
  }

  /** The connection ends. What is open is cancelled; resolves when the server has been sent that, if it still can be. */
  async close(): Promise<void> {
    this.#ended = true
    if (this.#open.size === 0) return
    for (const stop of this.#open.keys()) stop.abort()
    await setImmediate()
  }

  async #openFirst(params: unknown, signal: AbortSignal, cause: unknown): Promise<void> {
    const { action } = await this.ask(params, signal, true)
    if (action === 'accept') return
    // Nobody has said anything then.
    if (this.#ended) throw new TaplineError('CONNECTION_CLOSED', 'The connection was closed.', { cause })
    throw new TaplineError(
      'PROTOCOL',
      `The server "${this.#server}" answers when an address has been opened in a browser, which was ${action === 'decline' ? 'declined' : 'not done'}.`,
      { server: this.#server, advice: 'Call the tool again to be asked again.', cause },
    )
  }

  #worded<T>(make: () => T): T {
    try {
      return make()
    } catch (thrown) {
      const advice = 'Call the tool with all that it needs, so that it need not ask.'
      throw new TaplineError('PROTOCOL', messageOf(thrown), { server: this.#server, advice, cause: thrown })
    }
  }

  #opened(stop: AbortController): void {
    this.#open.set(stop, { calls: new Set(this.#clocks), failed: false })
    if (this.#open.size === 1) for (const clock of this.#clocks) clock.pause()
  }

  #closed(stop: AbortController): void {
    this.#open.delete(stop)
    if (this.#open.size === 0) for (const clock of this.#clocks) clock.resume()
  }

  #doneOf(params: unknown): AbortSignal {
    const id = (params as { readonly elicitationId?: unknown } | undefined)?.elicitationId
    const done = new AbortController()
    if (typeof id !== 'string') return done.signal
    const known = this.#done.get(id)
    if (known) return known.signal
    this.#done.set(id, done)
    const [oldest] = this.#done.keys()
    if (oldest !== undefined && this.#done.size > MOST_DONE) this.#done.delete(oldest)
    return done.signal
  }
}

const CANCEL: ElicitationAnswer = { action: 'cancel' }
