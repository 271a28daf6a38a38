import { settledWithin } from '../bounded.ts'
import { isLasting, ownAdvice, TaplineError } from '../errors.ts'
import type { ServerSpec } from '../types/index.ts'
import { backoffDelay, exhaustedError, Nap } from './backoff.ts'
import { closedError, type Connection } from './connection.ts'
import { type Hearing, hearPushes } from './hearing.ts'
import { PushRefusals } from './push-refusals.ts'
import { REFUND_AFTER_MS, type SupervisorOptions } from './options.ts'
import { openRemembering } from './remembered-era.ts'
import { ErrorReports } from './reports.ts'
import { sdkError } from './sdk-errors.ts'
import { connectedStatus, type SessionStatus, waitingStatus } from './status.ts'
import type { SubscriptionStatus } from './subscriptions.ts'
import { WaitingRoom } from './waiting.ts'

/** Calls that are under way when a session is lost have this long to hear of it themselves. */
const GRACE_MS = 1_000

/** Keeps one server connected: back-off with a budget, and a session that the server lost opened again. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #server: ServerSpec
  readonly #stop = new AbortController()
  readonly #nap = new Nap()
  readonly #reports: ErrorReports
  readonly #pushes: PushRefusals
  readonly #waiting: WaitingRoom
  #status: SessionStatus = { state: 'pending', attempt: 0, report: {} }
  #connection: Connection | undefined
  #hearing: Hearing | undefined
  #reopening: Promise<void> | undefined
  #running: Promise<void> | undefined
  #used = 0
  #dropped = false
  #worked = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#server = options.server
    this.#reports = new ErrorReports(options.server.name, (error, over) => options.onError(error, over))
    this.#pushes = new PushRefusals(options.server.name, {
      onStale: (connection) => void this.#drop(connection),
      onStatus: (change) => this.#set(change(this.#status)),
      onError: (error) => this.#reports.once(error, false),
    })
    this.#waiting = new WaitingRoom(options.server.name)
  }

  get status(): SessionStatus {
    return this.#connection ? { ...this.#status, report: this.#connection.report() } : this.#status
  }

  get connection(): Connection | undefined {
    return this.#connection
  }

  get closed(): boolean {
    return this.#stop.signal.aborted
  }

  start(): void {
    this.#running ??= this.#supervise()
  }

  /** Resolves when connected; rejects when the attempt that is or will be running fails. */
  async ready(signal?: AbortSignal): Promise<void> {
    if (this.#connection) return
    if (this.closed) throw this.notConnected()
    this.start()
    this.#nap.wake()
    // Whoever was told of the attempt may have closed the session at once.
    if (this.closed) throw this.notConnected()
    await this.#waiting.wait(signal)
  }

  /** Replaces `lost` by a new connection at once. Single-flight, however many callers find it lost. */
  reopen(lost: Connection): Promise<void> {
    if (this.#connection !== lost) return this.#reopening ?? this.ready()
    this.#reopening ??= this.#replace(lost).finally(() => (this.#reopening = undefined))
    return this.#reopening
  }

  /** A new connection at once, with a full budget. */
  async reconnect(): Promise<void> {
    this.#used = 0
    this.#reports.forget()
    this.#pushes.forget()
    if (this.#connection) await this.reopen(this.#connection)
    else await this.ready()
  }

  async close(): Promise<void> {
    if (!this.closed) {
      this.#stop.abort()
      this.#nap.wake()
      this.#waiting.refuse(this.notConnected())
    }
    await this.#connection?.close()
    await this.#running
    this.#status = { state: 'disabled', attempt: 0, report: {} }
    this.#options.onStatus(this.#status)
  }

  /** Why there is no connection, as an error. */
  notConnected(): TaplineError {
    const { state, reason } = this.#status
    const why = this.closed ? 'it was stopped' : (reason ?? state)
    return new TaplineError('NOT_CONNECTED', `Server "${this.#server.name}" is not connected: ${why}.`, {
      server: this.#server.name,
    })
  }

  async #replace(lost: Connection): Promise<void> {
    // Waiting comes first: that somebody waits is why the next attempt is made at once.
    const opened = this.#waiting.wait(undefined)
    void this.#drop(lost)
    await opened
  }

  async #drop(lost: Connection): Promise<void> {
    if (this.#connection !== lost) return
    this.#dropped = true
    this.#connection = undefined
    this.#status = { state: 'connecting', attempt: this.#used, report: lost.report() }
    await settledWithin(GRACE_MS, () => lost.progress.quiet())
    await lost.close()
  }

  async #supervise(): Promise<void> {
    while (!this.closed) {
      this.#used++
      const { error, opened } = await this.#attempt()
      if (this.closed) return
      const dropped = this.#dropped
      this.#dropped = false
      if (dropped && this.#waiting.occupied) {
        this.#used = Math.max(0, this.#used - 1)
        continue
      }
      // Unasked, the first reopening comes at once; a server that loses every session uses up its attempts.
      if (dropped && this.#used <= 1) continue
      const isOver = isLasting(error, this.#worked) || this.#server.reconnect.maxAttempts === 1
      this.#reports.once(error, isOver)
      await this.#rest(error, opened)
    }
  }

  /** Waits as the error demands, and says so in the status. Whoever waits since a connection ended waits for the next one. */
  async #rest(error: TaplineError, opened: boolean): Promise<void> {
    const { reconnect, name } = this.#server
    const refuse = (why: TaplineError): void => (opened ? undefined : this.#waiting.refuse(why))
    const rest = { reason: error.message, attempt: this.#used, report: this.#status.report }
    if (isLasting(error, this.#worked)) {
      this.#set({ ...rest, ...waitingStatus(error) })
      refuse(error)
      await this.#sleep()
      this.#used = 0
    } else if (this.#used >= reconnect.maxAttempts) {
      const exhausted = reconnect.maxAttempts === 1 ? error : exhaustedError(name, this.#used, error)
      this.#set({ ...rest, state: 'disconnected', reason: exhausted.message, attention: exhausted.advice })
      this.#reports.once(exhausted, true)
      refuse(exhausted)
      await this.#sleep()
      // Somebody asked: one more attempt, not a whole new budget.
      this.#used = Math.min(this.#used, reconnect.maxAttempts - 1)
    } else {
      const attention = ownAdvice(error)
      this.#set({ ...rest, state: 'reconnecting', ...(attention === undefined ? {} : { attention }) })
      refuse(error)
      await this.#sleep(backoffDelay(this.#used, reconnect))
    }
  }

  /** Not when somebody waits, nor when whoever was told of the status closed the session at once. */
  async #sleep(ms?: number): Promise<void> {
    if (!this.closed && !this.#waiting.occupied) await this.#nap.sleep(ms)
  }

  /** Connects and stays until the connection ends; answers why it ended. */
  async #attempt(): Promise<{ readonly error: TaplineError; readonly opened: boolean }> {
    this.#set({ state: 'connecting', attempt: this.#used, report: this.#status.report })
    if (this.closed) return { error: this.notConnected(), opened: false }
    let connection: Connection
    try {
      connection = await this.#open()
    } catch (thrown) {
      return { error: sdkError(thrown), opened: false }
    }
    if (this.closed) {
      await connection.close()
      return { error: this.notConnected(), opened: true }
    }
    const refund = setTimeout(() => {
      this.#used = 0
      this.#reports.lasted()
      this.#pushes.lasted()
    }, this.#options.refundAfterMs ?? REFUND_AFTER_MS)
    this.#connection = connection
    this.#worked = true
    connection.transport.onsessionlost = () => void this.#drop(connection)
    this.#set(connectedStatus(connection, this.#used))
    this.#hearing = hearPushes(connection, this.#server, {
      ...this.#pushes.begin(connection, () => this.#connection === connection),
      onStale: () => this.#options.onCatalogueStale(),
      onSubscriptions: (status) => this.#connection === connection && this.#subscribed(status),
    })
    this.#waiting.admit()
    this.#options.onCatalogueStale()
    await connection.closed
    this.#hearing.stop()
    this.#hearing = undefined
    clearTimeout(refund)
    if (this.#connection === connection) this.#connection = undefined
    const report = connection.report()
    this.#status = { state: 'connecting', attempt: this.#used, report }
    // Frees what the server left behind, whoever ended the connection.
    await connection.close()
    return { error: closedError(this.#server, report), opened: true }
  }

  #subscribed(subscriptions: SubscriptionStatus): void {
    this.#reports.refusals(subscriptions.refused)
    this.#set({ ...this.#status, subscriptions })
  }

  async #open(): Promise<Connection> {
    const { eras, ...options } = this.#options
    return openRemembering(
      {
        ...options,
        sdk: await options.sdk(),
        attempt: this.#used,
        signal: this.#stop.signal,
        onNotification: (frame, redact) => {
          this.#hearing?.hear(frame)
          options.onNotification(frame, redact)
        },
        onPushResumed: () => options.onCatalogueStale(),
        onReport: () => options.onStatus(this.status),
      },
      eras,
    )
  }

  #set(status: SessionStatus): void {
    if (this.closed) return
    this.#status = status
    this.#options.onStatus(status)
  }
}
