import { runCheck } from '../checks/check.ts'
import type { Departures } from '../checks/departures.ts'
import { type Group, groupsOf } from '../checks/groups.ts'
import type { Runs } from '../checks/runs.ts'
import { startRun } from '../checks/start.ts'
import { isDirectory } from '../directory.ts'
import type { Ground } from '../ground.ts'
import type { Rule } from '../types.ts'
import { finishReported, leaveOut, sendAway, sendAwayOverBudget } from './endings.ts'
import type { Item, Owner, Part } from './item.ts'
import { livenessOf } from './owners.ts'
import { claim, isFree, isSuperseded } from './working.ts'

/** A process that ended during a check counts as an attempt: what ends processes is not tried for ever. */
const MOST_BEGUN = 3
/** What waited longer than this was held. */
const HELD_MS = 10_000

/** One look at the queue, oldest first: begins what this session is to check. `onEnd` is called when a check has ended. */
export async function turn(
  ground: Ground,
  runs: Runs,
  departures: Departures,
  deferred: Set<string>,
  onEnd: () => void,
): Promise<void> {
  const queue = ground.queue.read()
  const items = queue.items.toSorted((a, b) => a.trigger.receivedAt - b.trigger.receivedAt)
  const isAlive = livenessOf(ground.host.windows)
  const rules = new Map(ground.store.list({ all: true }).map((rule) => [rule.id, rule]))
  // Which of them are enabled nobody knows, or what a check finds could not be recorded: everything waits.
  if (items.length === 0 || (await ground.store.obstacle()) !== undefined) return
  const owned = new Map<string, boolean>()
  /** A rule's owner checks it; what became of a rule that is gone, whoever the project is. */
  const isOwned = (item: Item, id: string): boolean => {
    const name = rules.has(id) ? id : item.cwd
    let answer = owned.get(name)
    if (answer === undefined)
      owned.set(name, (answer = ground.owns(rules.get(id) ?? { cwd: item.cwd, createdBy: {} })))
    return answer
  }
  let full = false
  for (const item of items) {
    const free = Object.entries(item.parts).filter(
      ([id, part]) => isFree(part, isAlive, Date.now()) && isOwned(item, id),
    )
    if (free.length === 0) continue
    const idsIn = (states: (part: Part) => boolean): string[] =>
      free.flatMap(([id, part]) => (states(part) ? [id] : []))
    await finishReported(
      ground,
      departures,
      item,
      idsIn((part) => part.state === 'reported'),
      rules,
    )
    const begun = idsIn((part) => part.state !== 'reported')
    const current = begun.filter((id) => item.kind === 'check' || !isSuperseded(queue, item, id))
    const live = item.kind === 'push' ? current.filter((id) => rules.get(id)?.enabled) : []
    await leaveOut(ground, item, without(begun, current), 'a newer one of its key waits')
    await leaveOut(
      ground,
      item,
      without(current, live),
      item.kind === 'check'
        ? 'the process that made this check ended'
        : 'the rule was removed or disabled meanwhile',
    )
    if (live.length > 0 && ground.spending.isOver()) {
      await sendAwayOverBudget(ground, departures, item, live)
      continue
    }
    for (const group of groupsOf(
      live.map((id) => rules.get(id) as Rule),
      ground.projects,
    )) {
      const ids = group.rules.map((rule) => rule.id)
      const refusal = refusalOf(item, group)
      if (refusal !== undefined) await sendAway(ground, departures, item, group.cwd, ids, refusal)
      else if (full || !(await begin(ground, runs, departures, item, group, onEnd))) {
        full = true
        defer(ground, runs, deferred, item)
      }
    }
  }
}

function without(ids: readonly string[], others: readonly string[]): readonly string[] {
  return ids.filter((id) => !others.includes(id))
}

function refusalOf(item: Item, { cwd, rules }: Group): string | undefined {
  const begun = Math.max(...rules.map((rule) => item.parts[rule.id]?.attempts ?? 0))
  if (begun >= MOST_BEGUN) return `the check of ${named(rules)} was begun ${begun} times and never ended`
  if (!isDirectory(cwd)) return `${cwd}, the directory of ${named(rules)}, is missing`
  return undefined
}

/** Takes a slot and the parts, and begins. Answers false when no slot is free. */
async function begin(
  ground: Ground,
  runs: Runs,
  departures: Departures,
  item: Item,
  group: Group,
  onEnd: () => void,
): Promise<boolean> {
  const run = startRun(ground, runs, item.trigger, group)
  if (run === undefined) return false
  const isAlive = livenessOf(ground.host.windows)
  const ids = group.rules.map((rule) => rule.id)
  let claimed: { readonly ids: readonly string[]; readonly from: readonly Owner[] }
  try {
    claimed = await ground.queue.change((file) =>
      claim(file, item.id, ids, ground.self(run.until), (part) => isFree(part, isAlive, Date.now())),
    )
  } catch (thrown) {
    run.close()
    throw thrown
  }
  if (claimed.ids.length === 0) {
    run.close()
    return true
  }
  if (claimed.from.length > 0) {
    const pids = [...new Set(claimed.from.map((owner) => owner.pid))]
    ground.audit(item.trigger, group.cwd, 'taken_over', {
      details: { from_pids: pids, rule_ids: claimed.ids },
    })
  }
  const waitedMs = Date.now() - item.trigger.receivedAt
  const check = {
    item,
    trigger: item.trigger,
    rules: group.rules.filter((rule) => claimed.ids.includes(rule.id)),
    cwd: group.cwd,
    ...(waitedMs > HELD_MS ? { deferredMs: waitedMs } : {}),
  }
  void runCheck(ground, departures, run, check).finally(() => {
    run.close()
    onEnd()
  })
  return true
}

function defer({ audit }: Ground, runs: Runs, deferred: Set<string>, item: Item): void {
  if (deferred.has(item.id)) return
  if (deferred.size > 1_000) deferred.clear()
  deferred.add(item.id)
  const reason = `${runs.inUse} sub-agent(s) already in flight (max ${runs.limit})`
  audit(item.trigger, item.cwd, 'deferred', { details: { reason, queued: 'queued' } })
}

function named(rules: readonly Rule[]): string {
  return rules.length === 1 ? `rule ${rules[0]?.id}` : `${rules.length} rules`
}
