import type { Trigger } from '@tapline/core'

/** A session of a process that has taken something out of the queue. */
export interface Owner {
  readonly pid: number
  readonly instance: string
  /** When the process began, in a unit of the machine's own: tells it from a later one with its pid. */
  readonly start?: number
  /** Milliseconds since the epoch: it is done by then, if it still lives. */
  readonly until: number
}

/** One rule's share of an item. When it is done, it is gone. */
export interface Part {
  /** `reported`: a check said that the condition holds; the action may have begun. */
  readonly state: 'waiting' | 'running' | 'reported'
  /** Whose it is, once it no longer waits. Without an owner it is free. */
  readonly owner?: Owner
  /** How often a check of it was begun. */
  readonly attempts: number
  /** Milliseconds since the epoch. */
  readonly notBefore?: number
}

/** What is kept of a trigger: never its content. */
export type StoredTrigger = Omit<Trigger, 'content' | 'attributes' | 'policy'>

/** An event and the rules that are still to be checked against it. */
export interface Item {
  readonly id: string
  /** A `check` is a periodic one, which is not repeated when it fails. */
  readonly kind: 'push' | 'check'
  readonly trigger: StoredTrigger
  /** Real path of the project that it arrived in. */
  readonly cwd: string
  /** By rule id. */
  readonly parts: Readonly<Record<string, Part>>
  /** How often something of it went to the inbox; never when absent. */
  readonly left?: number
}

/** What is on its way to the inbox: kept until the inbox has it. */
export interface Leaving {
  readonly id: string
  readonly trigger: StoredTrigger
  /** What the inbox knows it by, where that is not the trace: the inbox takes one of a name. */
  readonly name?: string
  readonly cwd: string
  readonly reason: string
  readonly owner: Owner
}

/** A push and rules that were checked against it a moment ago. */
export interface Recent {
  readonly key: string
  readonly cwd: string
  readonly receivedAt: number
  readonly rules: readonly string[]
}

/** `trigger-queue.json`. */
export interface QueueFile {
  readonly version: number
  readonly items: readonly Item[]
  readonly leaving: readonly Leaving[]
  readonly recent: readonly Recent[]
}

export const EMPTY_QUEUE: QueueFile = { version: 1, items: [], leaving: [], recent: [] }

export function storedTrigger({
  content: _content,
  attributes: _attributes,
  policy: _policy,
  ...trigger
}: Trigger): StoredTrigger {
  return trigger
}

export function isQueueFile(content: unknown): content is QueueFile {
  return isRecord(content) && Array.isArray(content.items)
}

/** The file without what is damaged in it, and what that is. */
export function soundQueue(content: QueueFile): {
  readonly queue: QueueFile
  readonly damaged: readonly unknown[]
} {
  const lists = content as unknown as Readonly<Record<string, unknown>>
  const list = (name: string): readonly unknown[] => (Array.isArray(lists[name]) ? lists[name] : [])
  const [items, leaving] = [list('items'), list('leaving')]
  return {
    queue: {
      ...content,
      version: 1,
      items: items.filter(isItem),
      leaving: leaving.filter(isLeaving),
      recent: list('recent').filter(isRecent),
    },
    damaged: [...items.filter((item) => !isItem(item)), ...leaving.filter((left) => !isLeaving(left))],
  }
}

function isItem(value: unknown): value is Item {
  if (!isRecord(value) || !isRecord(value.parts)) return false
  const { id, kind, cwd, trigger, parts } = value
  return (
    typeof id === 'string' &&
    (kind === 'push' || kind === 'check') &&
    typeof cwd === 'string' &&
    isTrigger(trigger) &&
    Object.keys(parts).length > 0 &&
    Object.values(parts).every(isPart)
  )
}

function isPart(value: unknown): value is Part {
  if (!isRecord(value)) return false
  const { state, owner, attempts, notBefore } = value
  const known = state === 'waiting' || state === 'running' || state === 'reported'
  const timed = notBefore === undefined || Number.isFinite(notBefore)
  return known && timed && Number.isSafeInteger(attempts) && (owner === undefined || isOwner(owner))
}

/** Names for what goes to the inbox of one item, so that each of several lines finds its place there. */
export function leavingOf(
  item: Item,
  leaving: readonly Leaving[],
): { readonly leaving: readonly Leaving[]; readonly left: number } {
  const left = Number.isSafeInteger(item.left) ? (item.left as number) : 0
  const nameOf = (n: number): Partial<Leaving> =>
    left + n === 0 ? {} : { name: `${item.trigger.traceId}/${left + n + 1}` }
  return {
    leaving: leaving.map((each, n) => ({ ...each, ...nameOf(n) })),
    left: left + leaving.length,
  }
}

function isLeaving(value: unknown): value is Leaving {
  if (!isRecord(value)) return false
  const { id, cwd, reason, trigger, owner, name = '' } = value
  const texts = [id, cwd, reason, name].every((text) => typeof text === 'string')
  return texts && isTrigger(trigger) && isOwner(owner)
}

function isOwner(value: unknown): value is Owner {
  return isRecord(value) && Number.isSafeInteger(value.pid) && typeof value.instance === 'string'
}

function isTrigger(value: unknown): value is StoredTrigger {
  if (!isRecord(value)) return false
  const { traceId, source, server, method, key, summary, replacement, receivedAt } = value
  return (
    [traceId, source, server, method, key, summary].every((text) => typeof text === 'string') &&
    (replacement === 'drop' || replacement === 'latest_replaces') &&
    isTime(receivedAt)
  )
}

/** Milliseconds since the epoch, of a day that can be written. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime())
}

function isRecent(value: unknown): value is Recent {
  if (!isRecord(value)) return false
  const { key, cwd, receivedAt, rules } = value
  return (
    typeof key === 'string' && typeof cwd === 'string' && Number.isFinite(receivedAt) && Array.isArray(rules)
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
