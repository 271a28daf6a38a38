/** One finding, in the field names of `inbox.jsonl`. Its texts may come from outside: they are data. */
export interface InboxEntry {
  /** `inb-` and 32 hexadecimal digits. */
  readonly id: string
  /** RFC 3339 with the offset of local time. What another program wrote may be anything. */
  readonly created_at: string
  /** It goes from `new` to one of the others and never back. A word of another program counts as triaged. */
  readonly status: 'new' | 'claimed' | 'dismissed' | (string & {})
  /** A `checkpoint` needs a decision, `news` do not. */
  readonly kind: 'checkpoint' | 'news'
  /** Where it came from: `trigger:mcp:<server>`. */
  readonly source: string
  /** The trace id of the event. */
  readonly run_id: string
  /** The project's real path; empty when it belongs to none, and then it is shown in every one. */
  readonly cwd: string
  /** One line. */
  readonly text: string
  readonly verified: boolean | null
  readonly dismiss_reason: string | null
  readonly job_id: string | null
  readonly session_id: string | null
  readonly claimed_by: string | null
  readonly verified_reason: string | null
  readonly dismissed_at: string | null
}

/** The names that older programs gave to fields. */
const OLDER = {
  createdAt: 'created_at',
  runId: 'run_id',
  trace_id: 'run_id',
  traceId: 'run_id',
  dismissReason: 'dismiss_reason',
  jobId: 'job_id',
  sessionId: 'session_id',
  claimedBy: 'claimed_by',
  verifiedReason: 'verified_reason',
  dismissedAt: 'dismissed_at',
} as const

/** pi-loops' mark of a finding that waits for a decision. */
const WAITS = /(?:^|\s)· waits:/i

/** Whether a text says that it waits for a decision, as pi-loops' loops do. */
export function isWaiting(text: string): boolean {
  return WAITS.test(text)
}

/** The entry of one line, in today's shape or an older one; undefined for a line that is none. */
export function readEntry(line: string): InboxEntry | undefined {
  const written = parse(line)
  if (written === undefined) return undefined
  const { id, text, status, kind, verified } = written
  if (typeof id !== 'string' || id === '' || typeof text !== 'string') return undefined
  // The common case, a line of today's, is taken as it is: a long inbox is read in half the time.
  if (isWhole(written)) return written
  return {
    id,
    created_at: string(written.created_at ?? written.createdAt) ?? '',
    status: string(status) ?? 'new',
    kind: kind === 'checkpoint' || (kind === undefined && isWaiting(text)) ? 'checkpoint' : 'news',
    source: string(written.source) ?? '',
    run_id: string(written.run_id ?? written.runId ?? written.trace_id ?? written.traceId) ?? '',
    cwd: string(written.cwd) ?? '',
    text,
    verified: typeof verified === 'boolean' ? verified : null,
    dismiss_reason: string(written.dismiss_reason ?? written.dismissReason) ?? null,
    job_id: string(written.job_id ?? written.jobId) ?? null,
    session_id: string(written.session_id ?? written.sessionId) ?? null,
    claimed_by: string(written.claimed_by ?? written.claimedBy) ?? null,
    verified_reason: string(written.verified_reason ?? written.verifiedReason) ?? null,
    dismissed_at: string(written.dismissed_at ?? written.dismissedAt) ?? null,
  }
}

/** The line of an entry, fields in pi-loops' order. What `earlier` says beyond them, it says too. */
export function lineOf(entry: InboxEntry, earlier?: string): string {
  const written = earlier === undefined ? undefined : parse(earlier)
  const further = Object.entries(written ?? {}).filter(
    ([name]) => !Object.hasOwn(entry, name) && !Object.hasOwn(OLDER, name),
  )
  return JSON.stringify(
    further.length === 0 ? entry : Object.fromEntries([...Object.entries(entry), ...further]),
  )
}

/** Whether every field but `id` and `text` is there and what it should be. */
function isWhole(written: Partial<Record<keyof InboxEntry, unknown>>): written is InboxEntry {
  return (
    typeof written.created_at === 'string' &&
    typeof written.status === 'string' &&
    (written.kind === 'news' || written.kind === 'checkpoint') &&
    typeof written.source === 'string' &&
    typeof written.run_id === 'string' &&
    typeof written.cwd === 'string' &&
    (written.verified === null || typeof written.verified === 'boolean') &&
    isTextOrNull(written.dismiss_reason) &&
    isTextOrNull(written.job_id) &&
    isTextOrNull(written.session_id) &&
    isTextOrNull(written.claimed_by) &&
    isTextOrNull(written.verified_reason) &&
    isTextOrNull(written.dismissed_at)
  )
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
