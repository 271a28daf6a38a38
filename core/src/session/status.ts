import type { TransportReport } from '../types/index.ts'
import type { Era } from './client.ts'
import type { Connection } from './connection.ts'
import type { SubscriptionStatus } from './subscriptions.ts'

/** Where a server stands. `disabled` is final: no later state overwrites it. */
export type SessionState =
  | 'pending'
  | 'connecting'
  | 'connected'
  | 'reconnecting'
  | 'disconnected'
  | 'auth_failed'
  | 'disabled'

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
  /** Absent where none are wanted, and until the server has answered. */
  readonly subscriptions?: SubscriptionStatus
  readonly report: TransportReport
}

/** The status of a server that has just connected. */
export function connectedStatus(connection: Connection, attempt: number): SessionStatus {
  const { client } = connection
  return {
    state: 'connected',
    attempt,
    era: connection.era,
    ...(client.protocolVersion ? { protocolVersion: client.protocolVersion } : {}),
    ...(client.serverInfo
      ? { serverInfo: { name: client.serverInfo.name, version: client.serverInfo.version } }
      : {}),
    capabilities: client.capabilities,
    ...(client.instructions ? { instructions: client.instructions } : {}),
    report: connection.report(),
  }
}
