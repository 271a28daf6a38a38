/** A server as the program around the plugin gives it. The same object stands for the same session. */
export interface PromptServer {
  /** As it is configured. */
  readonly name: string
  /** What the server said it can do; undefined before the first connect. */
  readonly capabilities: Readonly<Record<string, unknown>> | undefined
  /** Sends a request and answers its result as the server sent it. */
  request(
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    signal: AbortSignal | undefined,
  ): Promise<unknown>
}

/** An argument of a prompt. Every text is the server's, bounded and not clean. */
export interface PromptArgument {
  readonly name: string
  readonly description?: string
  readonly required: boolean
}

/** A prompt as `prompts/list` gave it. Every text is the server's, bounded and not clean. */
export interface Prompt {
  /** What the server knows it by. Unique in its list. */
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** In the server's order. Their names are unique. */
  readonly arguments: readonly PromptArgument[]
}

/** Whether a value is an object that is no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
