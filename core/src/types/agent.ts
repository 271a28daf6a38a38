/** A tool that is given to one sub-agent. */
export interface AgentTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Answers what the model reads. A throw is an error that the model reads. */
  execute(args: Readonly<Record<string, unknown>>): string | Promise<string>
}

/** One piece of work for a sub-agent. */
export interface AgentTask {
  /** Absolute: the directory that it works in. */
  readonly cwd: string
  readonly prompt: string
  /** `provider/model`; the session's when absent. */
  readonly model?: string
  /** A thinking level of pi; the session's when absent. */
  readonly thinking?: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly tools: readonly AgentTool[]
  /** Where the transcript is kept, beside those before it. Whoever runs the agent keeps the newest forty. */
  readonly transcriptDir: string
  /** Told of the cost in US dollars whenever it has grown; answers false to end the run. */
  onCost?(costUsd: number): boolean
}

/** How a sub-agent's work ended. */
export interface AgentOutcome {
  readonly status: 'completed' | 'failed' | 'timeout' | 'aborted' | 'over_budget'
  /** Its last words. Untrusted. */
  readonly text: string
  /** Why it did not complete. */
  readonly error?: string
  readonly costUsd: number
  /** The transcript's path, when there is one. */
  readonly transcript?: string
}

/** Runs sub-agents in this process, beside the session's own agent. */
export interface Agents {
  /** Never rejects. */
  run(task: AgentTask): Promise<AgentOutcome>
  /** `provider/model` and thinking level of the session now, to be kept with a rule. */
  current(): { readonly model?: string; readonly thinking?: string }
}
