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
}

/** Where a credential was found. Values are secret. */
export interface CredentialStore {
  /** The name a person knows the store by: `pi's credential store`. */
  readonly label: string
  /** The value, or undefined when the store has none. Throws a sentence when it is there but unusable. */
  read(ref: string): Promise<string | undefined> | string | undefined
}

/** What the program around the kernel offers to plugins. */
export interface Host {
  readonly name: string
  readonly version: string
  readonly mode: 'tui' | 'rpc' | 'print' | 'json' | 'headless'
  readonly paths: HostPaths
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absent where there is no chat. */
  readonly chat?: Chat
  /** In the order in which they are asked. */
  readonly credentials?: readonly CredentialStore[]
  /** Names of model providers, whose credentials are never sent to a server. */
  isModelProvider?(name: string): boolean
}
