import type { RawNotification, Trigger } from '@tapline/core'
import { mapNotification } from '../src/mapping.ts'

/** A notification of the server `builds`, unless the test says otherwise. */
export function raw(method: string, params?: unknown, server = 'builds'): RawNotification {
  return {
    kind: 'raw',
    server,
    method,
    params: params as RawNotification['params'],
    receivedAt: 1_700_000_000_000,
  }
}

/** The trigger that a notification becomes; anything else is a failure of the test. */
export function triggerOf(method: string, params?: unknown, server?: string): Trigger {
  const notice = mapNotification(raw(method, params, server))
  if (notice.kind !== 'trigger') throw new Error(`became ${JSON.stringify(notice)}`)
  return notice
}

/** A custom notification's params. */
export const custom = (key: unknown, summary?: unknown) => ({
  _meta: { pi_dedup_key: key, ...(summary === undefined ? {} : { pi_summary: summary }) },
})
