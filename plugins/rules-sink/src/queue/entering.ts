import { randomUUID } from 'node:crypto'
import {
  type Item,
  type Leaving,
  leavingOf,
  type Owner,
  type Part,
  type QueueFile,
  type StoredTrigger,
} from './item.ts'

/** How many pushes of one project may wait. */
export const MOST_WAITING = 32
/** As long as the deduplication window: equal keys within it are one event. */
const RECENT_MS = 5 * 60_000

/** A push that enters the queue. */
export interface Entering {
  readonly trigger: StoredTrigger
  readonly cwd: string
  readonly ruleIds: readonly string[]
  /** Who takes what no longer fits to the inbox. */
  readonly self: Owner
}

/** What became of it. */
export interface Entered {
  /** `covered`: every rule is or was checked against an equal event of a directory of the same project. */
  readonly as: 'queued' | 'replaced' | 'collapsed' | 'covered'
  readonly pending: number
  /** What had to make room. */
  readonly leaving: readonly Leaving[]
}

/** Lets a push wait for its rules. Of equal ones that wait, one stays: the newest, with the age of the oldest. */
export function enter(queue: QueueFile, entering: Entering): readonly [QueueFile, Entered] {
  const { trigger, cwd } = entering
  const equal = queue.items.filter((item) => item.kind === 'push' && item.trigger.key === trigger.key)
  const elsewhere = rulesElsewhere(queue, equal, entering)
  const wanted = entering.ruleIds.filter((id) => !elsewhere.has(id))
  if (wanted.length === 0)
    return [queue, { as: 'covered', pending: waitingIn(queue, cwd).length, leaving: [] }]
  const before = equal.filter((item) => item.cwd === cwd)
  if (trigger.replacement === 'drop') {
    const fresh = wanted.filter((id) => !before.some((item) => Object.hasOwn(item.parts, id)))
    if (fresh.length === 0)
      return [queue, { as: 'collapsed', pending: waitingIn(queue, cwd).length, leaving: [] }]
    return added(queue, itemOf(entering, fresh, trigger.receivedAt), 'queued', entering)
  }
  const replaced = before.filter((item) => Object.values(item.parts).some(isWaiting))
  const receivedAt = Math.min(trigger.receivedAt, ...replaced.map((item) => item.trigger.receivedAt))
  const items = queue.items.flatMap((item) => (replaced.includes(item) ? withoutWaiting(item) : [item]))
  const as = replaced.length > 0 ? 'replaced' : 'queued'
  return added({ ...queue, items }, itemOf(entering, wanted, receivedAt), as, entering)
}

/** Rules that an equal event reached by way of another directory of the project, just now. */
function rulesElsewhere(queue: QueueFile, equal: readonly Item[], { trigger, cwd }: Entering): Set<string> {
  const near = (at: number): boolean => Math.abs(trigger.receivedAt - at) < RECENT_MS
  return new Set([
    ...equal
      .filter((item) => item.cwd !== cwd && near(item.trigger.receivedAt))
      .flatMap((item) => Object.keys(item.parts)),
    ...queue.recent
      .filter((recent) => recent.key === trigger.key && recent.cwd !== cwd && near(recent.receivedAt))
      .flatMap((recent) => recent.rules),
  ])
}

function added(
  queue: QueueFile,
  item: Item,
  as: Entered['as'],
  { cwd, self }: Entering,
): readonly [QueueFile, Entered] {
  const items = [...queue.items, item]
  const waiting = waitingIn({ ...queue, items }, cwd)
  const out = waiting.slice(0, Math.max(0, waiting.length - MOST_WAITING))
  const leaving = out.flatMap((old) => leavingOf(old, [noRoomFor(old, self)]).leaving)
  return [
    {
      ...queue,
      items: items.flatMap((each) =>
        out.includes(each) ? withoutWaiting({ ...each, left: (each.left ?? 0) + 1 }) : [each],
      ),
      leaving: [...queue.leaving, ...leaving],
    },
    { as, pending: waiting.length - out.length, leaving },
  ]
}

function noRoomFor({ trigger, cwd }: Item, owner: Owner): Leaving {
  const reason = `more than ${MOST_WAITING} pushes wait to be checked against rules`
  return { id: randomUUID(), trigger, cwd, reason, owner }
}

/** Pushes of a project of which something waits, the oldest first. */
function waitingIn(queue: QueueFile, cwd: string): readonly Item[] {
  return queue.items
    .filter((item) => item.kind === 'push' && item.cwd === cwd && Object.values(item.parts).some(isWaiting))
    .toSorted((a, b) => a.trigger.receivedAt - b.trigger.receivedAt)
}

function isWaiting(part: Part): boolean {
  return part.state === 'waiting'
}

function withoutWaiting(item: Item): readonly Item[] {
  const parts = Object.fromEntries(Object.entries(item.parts).filter(([, part]) => !isWaiting(part)))
  return Object.keys(parts).length === 0 ? [] : [{ ...item, parts }]
}

function itemOf({ trigger, cwd }: Entering, ruleIds: readonly string[], receivedAt: number): Item {
  const parts = Object.fromEntries(ruleIds.map((id) => [id, { state: 'waiting' as const, attempts: 0 }]))
  return { id: randomUUID(), kind: 'push', trigger: { ...trigger, receivedAt }, cwd, parts }
}

/** Remembers for a while that these rules were checked against this item. */
export function remembered(queue: QueueFile, item: Item, rules: readonly string[]): QueueFile['recent'] {
  const { key, receivedAt } = item.trigger
  const now = Date.now()
  const kept = queue.recent.filter((recent) => Math.abs(now - recent.receivedAt) < RECENT_MS)
  if (item.kind === 'check' || rules.length === 0) return kept
  return [...kept, { key, cwd: item.cwd, receivedAt, rules }].slice(-MOST_RECENT)
}

const MOST_RECENT = 200
