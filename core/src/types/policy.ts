/**
 * What a push becomes: `ignore` drops it, `log` only lists it, `inbox`, `summary` (shown in the
 * chat, no model call), `run` (one turn), `rules`, or the name of any other sink.
 */
export type PushPolicy = string

/** A policy with its conditions. */
export interface PushRule {
  readonly policy: PushPolicy
  /**
   * `<number>/<second|minute|hour|day>`, or `none`. What exceeds it goes to the inbox, as one line that says how many.
   * When absent: 60 an hour for `run` and `rules`, which cost tokens, 600 an hour for `summary`, none for the others.
   * The methods that one entry is about share its limit. Where every window delivers, each counts for itself; what only
   * one delivers, the windows of the project count together, across restarts too (up to 1,000 per minute, hour or day).
   */
  readonly limit?: string
  /**
   * `all`: every window that has the server delivers it. `owner`: one of them does. When absent: all for `summary`,
   * `run`, `channel`, `log` and `ignore`, one for every other sink.
   */
  readonly windows?: 'all' | 'owner'
}

/**
 * Policies by method. Keys are exact methods, patterns with `*`, or `default`. Exact methods win,
 * then the first pattern, then `default`. Nothing means: rules when a rules sink is loaded, else log.
 */
export type PushPolicies = Readonly<Record<string, PushPolicy | PushRule>>
