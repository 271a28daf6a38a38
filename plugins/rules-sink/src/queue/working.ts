import { remembered } from './entering.ts'
import { type Item, type Leaving, leavingOf, type Owner, type Part, type QueueFile } from './item.ts'
import { isSameOwner } from './owners.ts'

/** Whether a part may be taken: it waits and its time has come, or whoever had it is gone. */
export function isFree(part: Part, isAlive: (owner: Owner) => boolean, now: number): boolean {
  if (part.owner !== undefined) return !isAlive(part.owner)
  if (part.state !== 'waiting') return true
  // A time that lies further ahead than any we set comes from a clock that has been set back.
  return part.notBefore === undefined || part.notBefore <= now || part.notBefore > now + FURTHEST_MS
}

const FURTHEST_MS = 10 * 60_000

/**
 * Whether a rule need not be checked against this item any more, since a newer one of its key waits, which replaces it:
 * it came while this one was checked, and that check was given back.
 */
export function isSuperseded(queue: QueueFile, item: Item, ruleId: string): boolean {
  return queue.items
    .slice(queue.items.findIndex(({ id }) => id === item.id) + 1)
    .some(
      ({ trigger, cwd, parts }) =>
        trigger.key === item.trigger.key &&
        trigger.replacement === 'latest_replaces' &&
        cwd === item.cwd &&
        Object.hasOwn(parts, ruleId) &&
        parts[ruleId]?.state === 'waiting',
    )
}

/** Takes those of the named parts that are still free; answers which, and from whom. */
export function claim(
  queue: QueueFile,
  itemId: string,
  ruleIds: readonly string[],
  owner: Owner,
  isFreeNow: (part: Part) => boolean,
): readonly [QueueFile, { readonly ids: readonly string[]; readonly from: readonly Owner[] }] {
  const item = queue.items.find(({ id }) => id === itemId)
  const ids = ruleIds.filter((id) => {
    const part = item?.parts[id]
    return part !== undefined && part.state !== 'reported' && isFreeNow(part)
  })
  if (item === undefined || ids.length === 0) return [queue, { ids: [], from: [] }]
  const from = ids.flatMap((id) => item.parts[id]?.owner ?? [])
  const next = withParts(item, ids, (part) => ({ state: 'running', owner, attempts: part.attempts + 1 }))
  return [replaced(queue, item, next), { ids, from }]
}

/** Notes that a check said of these rules that they match, or takes that back. */
export function mark(
  queue: QueueFile,
  itemId: string,
  ruleIds: readonly string[],
  owner: Owner,
  state: 'running' | 'reported',
): readonly [QueueFile, readonly string[]] {
  const item = queue.items.find(({ id }) => id === itemId)
  const ids = ruleIds.filter((id) => isSameOwner(item?.parts[id]?.owner, owner))
  if (item === undefined || ids.length === 0) return [queue, []]
  return [
    replaced(
      queue,
      item,
      withParts(item, ids, (part) => ({ ...part, state })),
    ),
    ids,
  ]
}

/** How parts end. */
export interface Settlement {
  readonly done: readonly string[]
  /** To be checked once more. */
  readonly again?: { readonly ids: readonly string[]; readonly notBefore?: number }
  readonly leaving?: readonly Leaving[]
}

/**
 * Takes what is done out of the queue, and puts beside it what goes to the inbox, in one step. Parts that somebody
 * else has meanwhile are left to them.
 */
export function settle(
  queue: QueueFile,
  itemId: string,
  isOurs: (part: Part) => boolean,
  { done, again, leaving = [] }: Settlement,
): QueueFile {
  const found = queue.items.find(({ id }) => id === itemId)
  if (found === undefined)
    return leaving.length > 0 ? { ...queue, leaving: [...queue.leaving, ...leaving] } : queue
  const named = leavingOf(found, leaving)
  const item = leaving.length > 0 ? { ...found, left: named.left } : found
  const withLeaving: QueueFile = {
    ...queue,
    items: queue.items.map((each) => (each === found ? item : each)),
    leaving: [...queue.leaving, ...named.leaving],
  }
  const ours = (ids: readonly string[]): readonly string[] =>
    ids.filter((id) => Object.hasOwn(item.parts, id) && isOurs(item.parts[id] as Part))
  const finished = ours(done)
  const kept = Object.fromEntries(Object.entries(item.parts).filter(([id]) => !finished.includes(id)))
  const next = withParts({ ...item, parts: kept }, ours(again?.ids ?? []), ({ attempts }) => ({
    state: 'waiting',
    attempts,
    ...(again?.notBefore === undefined ? {} : { notBefore: again.notBefore }),
  }))
  return { ...replaced(withLeaving, item, next), recent: remembered(queue, item, finished) }
}

/** Gives back whatever a session holds: what was reported stays reported, the rest waits again. */
export function release(queue: QueueFile, owner: Owner): QueueFile {
  const holds = (part: Part): boolean => isSameOwner(part.owner, owner)
  if (!queue.items.some((item) => Object.values(item.parts).some(holds))) return queue
  const items = queue.items.flatMap((item) => {
    const ids = Object.keys(item.parts).filter((id) => holds(item.parts[id] as Part))
    const freed = withParts(item, ids, ({ state, attempts }) =>
      state === 'reported' ? { state, attempts } : { state: 'waiting', attempts: Math.max(0, attempts - 1) },
    )
    return item.kind === 'check' ? reportedOf(freed) : [freed]
  })
  return { ...queue, items }
}

/** Of a periodic check nothing waits: the next one looks anew. */
function reportedOf(item: Item): readonly Item[] {
  const parts = Object.fromEntries(Object.entries(item.parts).filter(([, part]) => part.state !== 'waiting'))
  return Object.keys(parts).length === 0 ? [] : [{ ...item, parts }]
}

function withParts(item: Item, ids: readonly string[], change: (part: Part) => Part): Item {
  const changed = ids.flatMap((id) => {
    const part = item.parts[id]
    return part === undefined ? [] : [[id, change(part)] as const]
  })
  return changed.length === 0 ? item : { ...item, parts: { ...item.parts, ...Object.fromEntries(changed) } }
}

/** An item without parts is done. */
function replaced(queue: QueueFile, item: Item, next: Item): QueueFile {
  const items = queue.items.flatMap((each) =>
    each !== item ? [each] : Object.keys(next.parts).length === 0 ? [] : [next],
  )
  return { ...queue, items }
}
