/**
 * What a push becomes: `ignore` drops it, `log` only lists it, `inbox`, `summary` (shown in the
 * chat, no model call), `run` (one turn), `rules`, or the name of any other sink.
 */
export type PushPolicy = string

/**
 * Policies by method. Keys are exact methods, patterns with `*`, or `default`. Exact methods win,
 * then the first pattern, then `default`. Nothing means: rules when a rules sink is loaded, else log.
 */
export type PushPolicies = Readonly<Record<string, PushPolicy>>
