import { messageOf } from '../errors.ts'
import type { Kernel } from '../kernel/index.ts'
import { cleanText } from '../text.ts'
import type { Drop, Handled, Notice, RawNotification, Trigger, TriggerEvent } from '../types/index.ts'

const LONGEST_METHOD = 100

/** What plugins make of a notification: a whole trigger of that very server, nothing to deliver, or why it ends here. */
export function mapped({ notify }: Kernel['hooks'], raw: RawNotification): Trigger | Drop | Handled {
  try {
    return settled(notify.call(raw) as Notice, raw.server)
  } catch (thrown) {
    return { kind: 'drop', reason: 'mapping failed', error: messageOf(thrown) }
  }
}

/** Plugins are believed in nothing that would upset the books. */
function settled(notice: Notice, server: string): Trigger | Drop | Handled {
  switch (notice.kind) {
    case 'trigger':
      return notice.server === server && eventProblem(notice) === undefined
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

/** An event as somebody hands it in. Throws what is wrong with it. */
export function soundEvent(event: Trigger): Trigger {
  const problem = eventProblem(event)
  if (problem !== undefined) throw new TypeError(problem)
  return event
}

/** What is wrong with an event; undefined when nothing is. Written out, because each push passes here. */
function eventProblem(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null) return 'an event must be an object'
  const given = event as Partial<Record<keyof Trigger, unknown>>
  const { traceId, source, server, method, key, replacement, summary, receivedAt } = given
  const { content, policy, cwd, attributes } = given
  if (typeof traceId !== 'string' || traceId === '') return wrong('traceId')
  if (typeof source !== 'string' || source === '') return wrong('source')
  if (typeof server !== 'string' || server === '') return wrong('server')
  if (typeof method !== 'string') return wrong('method')
  if (typeof key !== 'string') return wrong('key')
  if (replacement !== 'drop' && replacement !== 'latest_replaces') return wrong('replacement')
  if (typeof summary !== 'string') return wrong('summary')
  if (!Number.isFinite(receivedAt)) return wrong('receivedAt')
  if (!mayBe('string', content)) return wrong('content')
  if (!mayBe('string', policy)) return wrong('policy')
  if (!mayBe('string', cwd)) return wrong('cwd')
  if (!mayBe('object', attributes) || attributes === null) return wrong('attributes')
  return undefined
}

function wrong(field: keyof Trigger): string {
  return `"${field}" of an event is not what it must be`
}

function mayBe(type: 'string' | 'object', value: unknown): boolean {
  return value === undefined || typeof value === type
}
