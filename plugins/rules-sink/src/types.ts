/** A rule in natural language, as `triggers.json` holds it. */
export interface Rule {
  /** `dyn-` and 32 hex digits. */
  readonly id: string
  readonly condition: string
  readonly action: string
  readonly enabled: boolean
  /** Disabled as soon as a check reports that the condition holds. */
  readonly fireOnce: boolean
  /** RFC 3339: when a check last reported that the condition holds. */
  readonly firedAt?: string
  /** Whether the result of the action is shown in a chat of the project. */
  readonly promoteToChat: boolean
  /** RFC 3339. */
  readonly createdAt: string
  /** The project; absolute. */
  readonly cwd: string
  /** `provider/model`; the session's when absent. */
  readonly model?: string
  readonly thinking?: string
  /** How long a check may take; the option `run_timeout_secs` when absent. */
  readonly timeoutMs?: number
  readonly createdBy: { readonly sessionId?: string }
  /** Failed checks in a row. */
  readonly consecutiveFailures?: number
  /** RFC 3339. */
  readonly lastCheckFailedAt?: string
  /** Why the engine disabled it. Gone when it is enabled again. */
  readonly disabledReason?: string
  /** RFC 3339: since when its directory is missing. */
  readonly cwdMissingSince?: string
}

/** What a new rule says. */
export interface NewRule {
  readonly condition: string
  readonly action: string
  /** True when absent. */
  readonly fireOnce?: boolean
  /** False when absent. */
  readonly promoteToChat?: boolean
  readonly cwd: string
  readonly model?: string
  readonly thinking?: string
  readonly timeoutMs?: number
  readonly createdBy?: { readonly sessionId?: string }
}

/** Settings of a rule that can be changed; null takes one away. */
export interface RuleChanges {
  readonly model?: string | null
  readonly thinking?: string | null
  readonly timeoutMs?: number | null
}

/** The rules of this machine. Every change is written under a lock that all processes share. */
export interface RuleStore {
  /** The file's path. */
  readonly path: string
  /** Rules of one project (its directory, those below and those above), or of the machine; oldest first. */
  list(scope: { readonly cwd: string } | { readonly all: true }): readonly Rule[]
  get(id: string): Rule | undefined
  /** Throws a sentence when the rule is refused ({@link checkRule}) or the file cannot be written. */
  add(rule: NewRule): Promise<Rule>
  /** Answers the removed rule, or nothing when there is none. */
  remove(id: string): Promise<Rule | undefined>
  /** Enabling clears when it fired, failed or was missed. Answers the rule as it is now. */
  setEnabled(id: string, enabled: boolean): Promise<Rule | undefined>
  /** Throws a sentence when a value is wrong. */
  set(id: string, changes: RuleChanges): Promise<Rule | undefined>
  /**
   * An exact id, a prefix that only one rule of the project has, or an exact id of another project. Numbers mean
   * nothing here: only who printed a list knows what they stand for. The error is a sentence; it is that of
   * {@link problem} when there is one.
   */
  resolve(ref: string, cwd: string): { readonly rule: Rule } | { readonly error: string }
  /** What keeps the file from being used, as a sentence. Rules then count as none. */
  problem(): string | undefined
}

/** A check that runs in this process. */
export interface RunningCheck {
  readonly traceId: string
  /** `mcp:<server>`, `local:dynamic` for a periodic check. */
  readonly source: string
  /** The method; `periodic check` for one. */
  readonly event: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly ruleIds: readonly string[]
  /** The directory that the sub-agent works in. */
  readonly cwd: string
  /** One line, redacted, at most 200 characters. */
  readonly promptPreview: string
  /** Where the transcript is written: a directory, until its file is known. */
  readonly transcript: string
}

/** A push that waits for its check, in any process of this machine. */
export interface QueuedPush {
  readonly traceId: string
  readonly source: string
  readonly event: string
  readonly summary: string
  readonly cwd: string
  /** Milliseconds since the epoch: when the first of those that it stands for arrived. */
  readonly receivedAt: number
  readonly ruleIds: readonly string[]
  /** Whether this session does it. */
  readonly owned: boolean
  /** Whether it is waiting or being checked by some process. */
  readonly state: 'waiting' | 'running'
}

/** How a check ended. */
export interface CheckResult {
  readonly traceId: string
  readonly status: 'completed' | 'failed' | 'aborted'
  readonly matchedRuleIds: readonly string[]
  /** One sentence; absent when it completed. */
  readonly error?: string
  readonly costUsd: number
  readonly transcript?: string
  /** The sub-agent's last words: redacted, at most 4,096 characters. */
  readonly text: string
}

/** What {@link Rules.runNow} answers. */
export type StartedCheck =
  | { readonly traceId: string; readonly done: Promise<CheckResult> }
  | { readonly refused: string }

/** The facts of `/triggers status`. */
export interface RulesStatus {
  /** Of this project. */
  readonly rules: {
    readonly total: number
    readonly enabled: number
    readonly disabled: number
    readonly fireOnce: number
    readonly repeat: number
    readonly promote: number
  }
  /** Whether checks run in this process at all. */
  readonly active: boolean
  /** Who checks this project's rules: a process id, and whether it is this session. */
  readonly checker: { readonly pid: number; readonly self: boolean }
  readonly pollIntervalSecs: number
  /** Milliseconds since the epoch: this project's last periodic check, in any process. */
  readonly lastCheckAt?: number
  readonly running: number
  readonly limit: number
  readonly waiting: number
  readonly budget: {
    readonly spentUsd: number
    /** 0: there is none. */
    readonly capUsd: number
  }
  readonly storagePath: string
  readonly auditPath: string
  /** What keeps state from being read or written, as long as it does; else what became of state that could not be used. */
  readonly persistenceError?: string
}

/** The service of the rules sink. */
export interface Rules {
  readonly store: RuleStore
  /** Oldest first. */
  running(): readonly RunningCheck[]
  slots(): { readonly inUse: number; readonly limit: number }
  /** Oldest first. */
  queue(): readonly QueuedPush[]
  /** Ends the run whose trace id begins so, or all of this process. */
  abort(ref: string): { readonly aborted: readonly string[]; readonly error?: string }
  /** A periodic check of one rule, now, whatever the interval and back-off say. */
  runNow(ruleId: string): Promise<StartedCheck>
  status(): RulesStatus
  /** Counts towards today's budget. */
  recordSpend(usd: number): void
  /** Whether today's budget is spent. Never when there is none. */
  overBudget(): boolean
  /** Called after rules, runs, the queue or the budget may have changed. Answers how to stop. */
  onChange(listener: () => void): () => void
}
