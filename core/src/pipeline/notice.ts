import { cleanText } from '../text.ts'
import type { Drop, Handled, Notice, RawNotification, Trigger, TriggerEvent } from '../types/index.ts'

const LONGEST_METHOD = 100

/**
 * What plugins made of a notification of `server`: a whole trigger of that very server, nothing to
 * deliver, or why it ends here. Plugins are believed in nothing that would upset the books.
 */
export function settledNotice(notice: Notice, server: string): Trigger | Drop | Handled {
  switch (notice.kind) {
    case 'trigger':
      return notice.server === server && isWhole(notice)
        ? notice
        : {
            kind: 'drop',
            reason: 'mapping failed',
            error: 'a plugin mapped a notification to something that is no event of this server',
          }
    case 'drop':
    case 'handled':
      return notice
    default:
      return { kind: 'drop', reason: 'undeclared' }
  }
}

/** The only step of a notification that became no trigger. Its method is the server's own text. */
export function dropStep(raw: Omit<RawNotification, 'kind' | 'params'>, reason: string): TriggerEvent {
  const method = cleanText(raw.method, LONGEST_METHOD)
  const { server, receivedAt: ts } = raw
  return {
    ts,
    traceId: '',
    server,
    method,
    key: '',
    policy: 'drop',
    summary: method,
    state: 'dropped',
    reason,
  }
}

function isWhole({ traceId, method, key, summary }: Trigger): boolean {
  return (
    typeof traceId === 'string' &&
    typeof method === 'string' &&
    typeof key === 'string' &&
    typeof summary === 'string'
  )
}
