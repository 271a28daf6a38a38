import { incompleteReason } from '../checks/conclusion.ts'
import type { Departures } from '../checks/departures.ts'
import type { Ground } from '../ground.ts'
import type { Rule } from '../types.ts'
import type { Item } from './item.ts'
import { livenessOf } from './owners.ts'
import { isFree, settle } from './working.ts'

/** A process ended after it had reported matches: their actions are not repeated, and a person is told. */
export async function finishReported(
  ground: Ground,
  departures: Departures,
  item: Item,
  ids: readonly string[],
  rules: ReadonlyMap<string, Rule>,
): Promise<void> {
  if (ids.length === 0) return
  const matched = ids.map((id) => rules.get(id) ?? { id, action: 'of a rule that is gone' })
  const cwd = cwdOf(ground, item, rules.get(ids[0] as string))
  // It may have ended between the report and this.
  await ground.store.fired(ids)
  const reason = incompleteReason(matched, 'the process that carried it out ended')
  await settleFree(ground, item, ids, [departures.entry(item.trigger, cwd, reason)])
  ground.audit(item.trigger, cwd, 'taken_over', { details: { matched_rule_ids: ids, repeated: false } })
  await departures.bring()
}

/** What need not be checked any more, with the reason in the audit trail. */
export async function leaveOut(
  ground: Ground,
  item: Item,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  if (ids.length === 0) return
  await settleFree(ground, item, ids, [])
  ground.audit(item.trigger, item.cwd, 'dropped', { details: { reason, rule_ids: ids } })
}

/** What cannot be checked goes to the inbox, as one line for all rules that it concerns. */
export async function sendAway(
  ground: Ground,
  departures: Departures,
  item: Item,
  cwd: string,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  await settleFree(ground, item, ids, [departures.entry(item.trigger, cwd, `not checked: ${reason}`)])
  await departures.bring()
}

/** Where this is the case, nothing is checked any more today. */
export async function sendAwayOverBudget(
  ground: Ground,
  departures: Departures,
  item: Item,
  ids: readonly string[],
): Promise<void> {
  const { capUsd, spentUsd } = ground.spending
  const details = { spent_usd: spentUsd(), cap_usd: capUsd }
  ground.audit(item.trigger, item.cwd, 'budget_exceeded', { details })
  await sendAway(ground, departures, item, item.cwd, ids, "today's budget is spent")
}

/** Ends parts that are still free, in one step with what goes to the inbox for them. */
async function settleFree(
  { queue, host }: Ground,
  item: Item,
  ids: readonly string[],
  leaving: readonly ReturnType<Departures['entry']>[],
): Promise<void> {
  const isAlive = livenessOf(host.windows)
  await queue.change((file) => {
    const now = Date.now()
    const parts = file.items.find(({ id }) => id === item.id)?.parts ?? {}
    const still = ids.filter((id) => parts[id] !== undefined && isFree(parts[id], isAlive, now))
    if (still.length === 0) return [file, undefined]
    return [settle(file, item.id, (part) => isFree(part, isAlive, now), { done: still, leaving }), undefined]
  })
}

function cwdOf({ projects }: Ground, item: Item, rule: Rule | undefined): string {
  return rule === undefined ? item.cwd : projects.real(rule.cwd)
}
