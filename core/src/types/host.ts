import type { Agents } from './agent.ts'
import type { AuditRow } from './audit.ts'
import type { Files } from './files.ts'
import type { DedupRequest, DedupVerdict, Trigger } from './notification.ts'
import type { OAuthSteps } from './oauth.ts'
import type { Projects } from './project.ts'
import type { ServerSpec } from './server.ts'
import type { Windows } from './window.ts'

/** Where state lives. Absolute paths. */
export interface HostPaths {
  readonly cwd: string
  readonly home: string
  readonly agentDir: string
  readonly loopsDir: string
}

/** The chat of a session, as sinks see it. */
export interface Chat {
  /** Shows `text` without a model call, also while the agent streams. Throws when there is no chat any more. */
  show(message: ChatMessage): void
  /** Shows `text` and starts one turn; queued while the agent is busy. Throws when there is no chat any more. */
  run(message: ChatMessage): void
}

/** One framed message for the chat. */
export interface ChatMessage {
  /** What the model and the person read: framed as data from a named server. */
  readonly text: string
  readonly traceId: string
  readonly server: string
  readonly method: string
  /** A turn that has to wait may be shared with others of the same name: their texts are handed over together, in order. */
  readonly together?: string
  /** A person asked for this turn: no budget holds it back. */
  readonly asked?: boolean
  /** The event that it is about: what the inbox is handed of a turn that never came. */
  readonly trigger?: Trigger
}

/** A configured server as plugins see it while it runs. */
export interface ServerView {
  readonly spec: ServerSpec
  readonly connected: boolean
  /** What the server said it can do; undefined before the first connect. */
  readonly capabilities: Readonly<Record<string, unknown>> | undefined
  /** Untrusted text of the server. */
  readonly instructions: string | undefined
  /** Sends a notification. Rejects when there is no connection. */
  notify(method: string, params: Readonly<Record<string, unknown>>): Promise<void>
  /** Drops the connection, if any, and opens a new one. */
  reconnect?(): Promise<void>
}

/** Where a credential was found. Values are secret. */
export interface CredentialStore {
  /** The name a person knows the store by: `pi's credential store`. */
  readonly label: string
  /** The value, or undefined when the store has none. Throws a sentence when it is there but unusable. */
  read(ref: string): Promise<string | undefined> | string | undefined
}

/** What the inbox is told of a trigger that came to it by way of another sink. */
export interface InboxNote {
  /** Why it came there. */
  readonly reason: string
  /** The project it belongs to; the session's when absent. */
  readonly cwd?: string
}

/** What the program around the kernel offers to plugins. */
export interface Host {
  readonly name: string
  readonly version: string
  readonly mode: 'tui' | 'rpc' | 'print' | 'json' | 'headless'
  readonly paths: HostPaths
  /** Tells which directories are one project. */
  readonly projects: Projects
  readonly env: Readonly<Record<string, string | undefined>>
  /** Files that several processes read and change. */
  readonly files: Files
  /** Whether pushes are delivered here. Where they are not, nothing that runs by itself is started. */
  readonly delivers: boolean
  /** Absent where there is no chat. */
  readonly chat?: Chat
  /** In the order in which they are asked. */
  readonly credentials?: readonly CredentialStore[]
  /** Names of model providers, whose credentials are never sent to a server that names them as its credential. */
  isModelProvider?(name: string): boolean
  /**
   * The token with which pi would ask a model provider now, renewed where that is due; undefined when there is none. For
   * servers whose entry in the person's own file says that they are sent it. Absent where nobody knows. Values are secret.
   */
  providerToken?(provider: string): Promise<string | undefined>
  /** Hands in an event of a source that is no MCP server; it is mapped, deduplicated and delivered like any other. Throws what is wrong with it. */
  admit?(trigger: Trigger): void
  /** Asks the `dedup` hook about a trigger, beside the claim that the pipeline makes itself. */
  claim?(request: DedupRequest): Promise<DedupVerdict | undefined>
  /** The steps of signing in with OAuth, loaded when they are asked for. Absent where nobody signs in. */
  oauth?(): Promise<OAuthSteps>
  /** A server of this session. */
  server?(name: string): ServerView | undefined
  /** Absent where no sub-agent can run. */
  readonly agents?: Agents
  /** Absent where nobody is told of other sessions. */
  readonly windows?: Windows
  /** Hands a trigger to the inbox sink. Answers false when there is none, or when it did not take it. */
  toInbox?(trigger: Trigger, note: InboxNote): Promise<boolean>
  /** `text` without escape sequences, control and format characters and secrets; lines stay. */
  redact?(text: string): string
  /** Writes to the audit trail, best effort: never throws, and never holds anything up. */
  audit?(row: AuditRow): void
}
