import type { AuditRow, Host } from '@tapline/core'
import { sourceOf } from './checks/event.ts'
import { cut } from './checks/wording.ts'
import type { StoredTrigger } from './queue/item.ts'
import { stamp } from './stamps.ts'

/** What a row says beside what it is about. */
export interface AuditNote {
  readonly type?: AuditRow['type']
  readonly summary?: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Writes what happens to a trigger in a project. */
export type Auditor = (trigger: StoredTrigger, cwd: string, state: string, note?: AuditNote) => void

const LONGEST_KEY = 256

/** Rows as pi-loops writes them: each says the key, the replacement policy and the arrival. */
export function auditor(host: Pick<Host, 'audit'>): Auditor {
  return (trigger, cwd, state, { type = 'trigger', summary = trigger.summary, details } = {}) =>
    host.audit?.({
      type,
      traceId: trigger.traceId,
      cwd,
      state,
      sourceLabel: sourceOf(trigger),
      eventLabel: trigger.method,
      summary,
      details: {
        ...details,
        idempotency_key: cut(trigger.key, LONGEST_KEY),
        replacement_policy: trigger.replacement,
        received_at: stamp(trigger.receivedAt),
      },
    })
}
