import type { TransportReport } from '../types/index.ts'
import type { Era } from './client.ts'

/** Where a server stands. `disabled` is final: no later state overwrites it. */
export type SessionState = 'pending' | 'connecting' | 'connected' | 'reconnecting' | 'disconnected' | 'auth_failed' | 'disabled'

/** A snapshot of one server, as panels and commands show it. */
export interface SessionStatus {
  readonly state: SessionState
  /** Why it is not connected. */
  readonly reason?: string
  /** What the person should do, when something waits for them. */
  readonly attention?: string
  /** Connect attempts in a row, the running one included. */
  readonly attempt: number
  readonly era?: Era
  readonly protocolVersion?: string
  readonly serverInfo?: { readonly name: string; readonly version: string }
  readonly capabilities?: Readonly<Record<string, unknown>>
  /** Untrusted text of the server. */
  readonly instructions?: string
  readonly report: TransportReport
}
