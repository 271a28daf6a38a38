import { TaplineError } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { HearingEvents } from './hearing.ts'
import type { SessionStatus } from './status.ts'

/** What a refusal leads to. */
export interface RefusalEvents {
  /** The connection is to be made anew, with the credentials as they are now. */
  onStale(connection: Connection): void
  onStatus(change: (status: SessionStatus) => SessionStatus): void
  /** The person has something to do; once, until a stream was open again. */
  onError(error: TaplineError): void
}

/**
 * Push streams of one server that are refused for their credentials. These are looked up anew at once, as for a call,
 * but only after a stream that was open, and not again before a connection has lasted. The rest is said once.
 */
export class PushRefusals {
  readonly #server: string
  readonly #events: RefusalEvents
  #isOpen = false
  #wasOpen = false
  #isRenewed = false
  #isTold = false

  constructor(server: string, events: RefusalEvents) {
    this.#server = server
    this.#events = events
  }

  /** What to hear of a connection that begins, for as long as it is the one. */
  begin(connection: Connection, isCurrent: () => boolean): Pick<HearingEvents, 'onOpened' | 'onRefused'> {
    this.#isOpen = false
    return {
      onOpened: () => isCurrent() && this.#opened(),
      onRefused: (error) => isCurrent() && this.#refused(connection, error),
    }
  }

  /** A connection has lasted: credentials may be renewed once more. */
  lasted(): void {
    this.#isRenewed = false
  }

  /** Somebody asked for a fresh start. */
  forget(): void {
    this.#isRenewed = false
    this.#isTold = false
  }

  #opened(): void {
    this.#isOpen = true
    this.#wasOpen = true
    if (!this.#isTold) return
    this.#isTold = false
    this.#events.onStatus(heard)
  }

  #refused(connection: Connection, thrown: TaplineError): void {
    const { status, signIn } = thrown.data
    const wasOpen = this.#isOpen
    this.#isOpen = false
    // A renewed sign-in gives no more permissions than the last one did.
    if (wasOpen && !this.#isRenewed && !(status === 403 && signIn === true)) {
      this.#isRenewed = true
      return this.#events.onStale(connection)
    }
    // Servers that have no stream forbid to ask for one, too.
    if (connection.era === 'legacy' && status === 403 && !this.#wasOpen) return
    const error = pushesRefused(this.#server, thrown)
    this.#events.onStatus((before) => unheard(before, error))
    if (!this.#isTold) this.#events.onError(error)
    this.#isTold = true
  }
}

function pushesRefused(server: string, { message, advice, data }: TaplineError): TaplineError {
  const what = `its pushes do not arrive: ${message}`
  return new TaplineError('PUSHES_REFUSED', what, { server, advice, data })
}

function unheard(status: SessionStatus, { message, advice, data }: TaplineError): SessionStatus {
  const signIn = data['signIn'] === true ? { signIn: true as const } : {}
  return { ...status, reason: message, attention: advice, ...signIn }
}

function heard(status: SessionStatus): SessionStatus {
  const { reason: _reason, attention: _attention, signIn: _signIn, ...rest } = status
  return rest
}
