import type { Diagnostic, ElicitationAnswer, ElicitationQuestion, Host, ServerSpec } from '@tapline/core'
import type { GivenName } from '@tapline/tools'
import type { ConfigurationOptions } from './configuration.ts'
import type { Server } from './server.ts'

/** What becomes of pushes: delivered, only watched (nothing is claimed), or not even mapped. */
export type PushMode = 'deliver' | 'watch' | 'ignore'

/** What `createTapline` takes. */
export interface TaplineOptions extends ConfigurationOptions {
  readonly info: { readonly name: string; readonly version: string }
  readonly mode: Host['mode']
  readonly pushes: PushMode
  readonly chat?: Host['chat']
  readonly credentials?: Host['credentials']
  readonly agents?: Host['agents']
  /**
   * Asks the person what a server asks; `signal` aborts when the answer is no longer wanted. Absent where nobody can be
   * asked: then servers are told so.
   */
  elicit?(server: ServerSpec, question: ElicitationQuestion, signal: AbortSignal): Promise<ElicitationAnswer>
  /** The id of the session around it, by which rules know who made them. */
  readonly sessionId?: string
  isModelProvider?(name: string): boolean
  readonly providerToken?: Host['providerToken']
  /** Replaces every server's limit of connect attempts, for commands that do not wait for a server to come back. */
  readonly attempts?: number
  /** Names of tools that are not Tapline's, and names that were given before. */
  readonly toolNames?: { taken(name: string): boolean; readonly given?: readonly GivenName[] }
  /** Plugins that other extensions handed in. */
  readonly plugins?: readonly unknown[]
  /** Told of what a person should know, each once. */
  onDiagnostic(diagnostic: Diagnostic): void
  /** Told whenever a server's state, report or tool list may have changed. */
  onServer?(server: Server): void
}
