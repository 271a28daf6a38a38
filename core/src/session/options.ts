import type { TaplineError } from '../errors.ts'
import type { ConnectRequest, Elicit, Frame, ServerSpec, Transport } from '../types/index.ts'
import type { Era, Sdk } from './client.ts'
import type { SessionStatus } from './status.ts'

/** A connection that has lasted this long gives the reconnect attempts back. */
export const REFUND_AFTER_MS = 30_000

/** Remembers which era a server speaks. Keys are server names. */
export interface EraMemory {
  get(server: string): Era | undefined
  set(server: string, era: Era | undefined): void
}

/** What a supervised server needs from around it. */
export interface SupervisorOptions {
  readonly server: ServerSpec
  readonly cwd: string
  readonly info: { readonly name: string; readonly version: string }
  /** Loads the SDK; called at the first connect. */
  sdk(): Promise<Sdk>
  /** Runs the `connect` hook. */
  transportFor(request: ConnectRequest): Promise<Transport | undefined>
  readonly eras?: EraMemory
  /** Asks the person what the server asks. Absent where nobody can be asked: then the server is told so, and asks nothing. */
  readonly elicit?: Elicit
  /** {@link REFUND_AFTER_MS} when absent. */
  readonly refundAfterMs?: number
  /**
   * Every notification in arrival order. Progress is heard by its call as well. `redact` removes what this connection
   * knows to be secret, and what looks like it.
   */
  onNotification(frame: Frame, redact: (text: string) => string): void
  /** The tool list may differ from what was listed before: after each connect and each break of the push stream. */
  onCatalogueStale(): void
  onStatus(status: SessionStatus): void
  /** Each distinct error once, until a connection has lasted. `over`: nothing is tried again by itself. */
  onError(error: TaplineError, over: boolean): void
}
