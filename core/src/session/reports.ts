import { TaplineError } from '../errors.ts'
import { cleanText } from '../text.ts'
import type { RefusedSubscription } from './subscriptions.ts'

/** A server may offer ever new resources and refuse each: after so many errors the status alone says it. */
const MOST_REFUSALS = 5
const LONGEST_URI = 200

/** What went wrong with one server, as it is reported: nothing twice. */
export class ErrorReports {
  readonly #server: string
  readonly #report: (error: TaplineError, over: boolean) => void
  readonly #reported = new Set<string>()
  /** Addresses whose refusal was reported. They are asked for anew on every connection. */
  readonly #refused = new Set<string>()
  #refusals = 0

  constructor(server: string, report: (error: TaplineError, over: boolean) => void) {
    this.#server = server
    this.#report = report
  }

  /** Reports an error, unless one of the same words was reported since a connection has lasted. `over`: nothing follows by itself. */
  once(error: TaplineError, over: boolean): void {
    if (this.#reported.has(error.message)) return
    this.#reported.add(error.message)
    this.#report(error, over)
  }

  /** Reports subscriptions that the server did not take, many in one sentence. */
  refusals(refused: readonly RefusedSubscription[]): void {
    const fresh = refused.filter(({ uri }) => !this.#refused.has(uri))
    const [first] = fresh
    if (!first || this.#refusals === MOST_REFUSALS) return
    this.#refusals++
    for (const { uri } of fresh) this.#refused.add(uri)
    // The address may be the server's own text, from its list.
    const uri = cleanText(first.uri, LONGEST_URI)
    const message =
      fresh.length === 1
        ? `the subscription to ${uri} failed: ${first.reason}`
        : `${fresh.length} subscriptions failed, the first to ${uri}: ${first.reason}`
    this.#report(new TaplineError('SUBSCRIPTION_REFUSED', message, { server: this.#server }), false)
  }

  /** A connection has lasted: what goes wrong from now on is news. */
  lasted(): void {
    this.#reported.clear()
  }

  /** Somebody asked for a fresh start. */
  forget(): void {
    this.#reported.clear()
    this.#refused.clear()
    this.#refusals = 0
  }
}
