import type { PushPolicy } from './policy.ts'

/** A notification as it arrived from a server. */
export interface RawNotification {
  readonly kind: 'raw'
  readonly server: string
  readonly method: string
  /** Untrusted: anything a server may send. */
  readonly params: Readonly<Record<string, unknown>> | undefined
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
}

/** An event that is worth delivering. Every text in it is redacted, bounded and free of control characters. */
export interface Trigger {
  readonly kind: 'trigger'
  /** UUID. */
  readonly traceId: string
  /** Where it came from: an MCP server, or a source of another kind. */
  readonly source: 'mcp' | (string & {})
  readonly server: string
  readonly method: string
  /** Idempotency key: equal keys inside the window are one event. */
  readonly key: string
  /** `drop`: later equal events are duplicates. `latest_replaces`: the newest of them is delivered once more. */
  readonly replacement: 'drop' | 'latest_replaces'
  /** The method and at most 200 characters of bounded metadata, never raw params. */
  readonly summary: string
  /** Content for sinks that the user approved for it (channels): bounded and clean, but not redacted. */
  readonly content?: string
  /** What the server said of the content, by names of letters, digits and underscores. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Where a source decides for each event itself: its policy. Absent: that of the server and method. */
  readonly policy?: PushPolicy
  /** The directory of the project that it belongs to, absolute. Absent: the session's. */
  readonly cwd?: string
  readonly receivedAt: number
}

/** A notification that ends here. It is counted with its reason. */
export interface Drop {
  readonly kind: 'drop'
  readonly reason: string
  /** Shown as the server's `last error` when the server should know better. */
  readonly error?: string
}

/** One of the protocol's own notifications, counted apart and not an event. */
export interface Handled {
  readonly kind: 'handled'
}

/** What the `notify` hook turns step by step into a trigger, a drop or nothing to deliver. */
export type Notice = RawNotification | Trigger | Drop | Handled

/** What the `dedup` hook is asked. */
export interface DedupRequest {
  readonly trigger: Trigger
  /** `process`: injected pushes, every window shows them. `project`: evaluated once per project. */
  readonly scope: 'process' | 'project'
  /** Where the trigger is bound for. Absent where nobody delivers it. */
  readonly policy?: PushPolicy
  /** Set when the trigger waited because of an earlier answer `later`. */
  readonly held?: boolean
}

/** What the `dedup` hook answers. Nothing means: first. */
export type DedupVerdict =
  | {
      readonly verdict: 'first'
      /** Delivered: the claim stands until the window ends. */
      done?(): void
      /** Not delivered: the claim is free again. */
      failed?(): void
    }
  | { readonly verdict: 'duplicate'; readonly of: string }
  /** It leads nowhere, for this reason (`no rules`): it is dropped, and nothing is claimed. */
  | { readonly verdict: 'drop'; readonly reason: string }
  /** The newest of these is delivered once when the window ends, at `until` (milliseconds since the epoch). */
  | {
      readonly verdict: 'later'
      readonly until: number
      /** Another process is delivering an equal one, with this trace id, and this is asked again in case it fails. */
      readonly of?: string
    }

/** What a sink says of a trigger that it took. */
export interface Receipt {
  /** The sink's name. */
  readonly sink: string
  /** Set when the sink knows that the trigger ends otherwise, for example `no rules`. */
  readonly dropped?: string
  /** Set when the sink passed it on to the inbox. */
  readonly redirected?: boolean
  /** Set when the sink does not take it, with the reason: it goes to the inbox, as without a receipt. */
  readonly refused?: string
}

/** What a sink is told beside the trigger. */
export interface DeliverContext {
  /** The policy that led here. */
  readonly policy: string
  /** Set for the inbox when this trigger stands for all that exceeded a limit, or had no turn. */
  readonly overflow?: Overflow
  /** Set for the inbox: why the trigger came here instead of where the policy said. */
  readonly reason?: string
  /** Set for the inbox: the project that it belongs to, where that may be another than this session's. */
  readonly cwd?: string
  /** Aborts when the sink has taken too long and the trigger goes to the inbox, and when the session ends. */
  readonly signal: AbortSignal
}

/** Triggers that exceeded a limit, or had no turn before the session ended, of which one is handed on. */
export interface Overflow {
  /** How many there are since {@link since}, those of earlier calls included. */
  readonly count: number
  /** The limit as it was configured: `6/hour`. Absent where the session ended before they had their turn. */
  readonly limit?: string
  /** Milliseconds since the epoch: when the first of them came. The same for all calls that count on. */
  readonly since: number
}

/** The states that a trigger passes; it ends in exactly one of the last five. */
export type TriggerState =
  | 'received'
  | 'pending'
  | 'delivered'
  | 'redirected'
  | 'deduped'
  | 'collapsed'
  | 'dropped'

/** One step of a trigger, as observers, `tapline watch` and `pi.events` see it. */
export interface TriggerEvent {
  readonly ts: number
  readonly traceId: string
  readonly server: string
  readonly method: string
  readonly key: string
  readonly policy: string
  readonly summary: string
  readonly state: TriggerState
  readonly sink?: string
  readonly reason?: string
}

/**
 * The books of one server. At every moment
 * `received = delivered + redirected + deduped + collapsed + dropped + pending`.
 */
export interface PushCounts {
  readonly received: number
  readonly delivered: number
  readonly redirected: number
  readonly deduped: number
  readonly collapsed: number
  readonly dropped: number
  readonly pending: number
  /** The protocol's own notifications, counted apart. */
  readonly handled: number
}
