/** One row of the audit trail, `triggers-audit.jsonl` in pi-loops' shape. Texts are redacted as they are written. */
export interface AuditRow {
  readonly type: 'trigger' | 'trigger_result' | 'trigger_promotion' | 'cron_control_plane' | (string & {})
  readonly traceId: string
  /** The project it belongs to. */
  readonly cwd: string
  /** For example `accepted`, `deduped`, `completed`, `failed`, `aborted`, `redirected`. */
  readonly state: string
  readonly sourceLabel?: string
  readonly eventLabel?: string
  readonly summary?: string
  readonly details?: Readonly<Record<string, unknown>>
}
