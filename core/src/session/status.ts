import type { TaplineError } from '../errors.ts'
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
  /** Why it is not connected, or, of one that is, why its pushes do not arrive. */
  readonly reason?: string
  /** What the person should do, when something waits for them. */
  readonly attention?: string
  /** What waits for them is a sign-in. */
  readonly signIn?: true
  /** Connect attempts in a row, the running one included. */
  readonly attempt: number
  /** When it connected, in milliseconds since the epoch; only of one that is connected. */
  readonly since?: number
  /** Its process, where the transport has started one; only of one that is connected. */
  readonly pid?: number
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

/** What a status says of a server that nothing is tried with until a person has done something. */
export function waitingStatus({
  code,
  advice,
  data,
}: TaplineError): Pick<SessionStatus, 'state' | 'attention' | 'signIn'> {
  const state = code === 'AUTH_FAILED' ? 'auth_failed' : 'disconnected'
  return { state, attention: advice, ...(data['signIn'] === true ? { signIn: true } : {}) }
}

/** The status of a server that has just connected. */
export function connectedStatus(connection: Connection, attempt: number): SessionStatus {
  const { client, transport } = connection
  return {
    state: 'connected',
    attempt,
    since: Date.now(),
    ...(typeof transport.pid === 'number' ? { pid: transport.pid } : {}),
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
