import { randomUUID } from 'node:crypto'
import { runCheck } from '../checks/check.ts'
import type { Departures } from '../checks/departures.ts'
import { periodicEvent } from '../checks/event.ts'
import type { Group } from '../checks/groups.ts'
import type { Runs } from '../checks/runs.ts'
import { startRun } from '../checks/start.ts'
import type { Ground } from '../ground.ts'
import type { StartedCheck } from '../types.ts'

/**
 * Checks a group now, without an event. It stands in the queue while it runs, so that another process knows of actions
 * that may have begun should this one be killed. Refused with a sentence when no slot is free.
 */
export async function startPeriodic(
  ground: Ground,
  runs: Runs,
  departures: Departures,
  group: Group,
): Promise<StartedCheck> {
  const { cwd, rules } = group
  const trigger = periodicEvent(cwd, rules.length, ground.self().instance)
  const run = startRun(ground, runs, trigger, group)
  if (run === undefined)
    return { refused: `All ${runs.limit} slots for sub-agents are in use; try again when one is free.` }
  const owner = ground.self(run.until)
  const parts = Object.fromEntries(
    rules.map((rule) => [rule.id, { state: 'running' as const, owner, attempts: 1 }]),
  )
  const item = { id: randomUUID(), kind: 'check' as const, trigger, cwd, parts }
  try {
    await ground.queue.change((file) => [{ ...file, items: [...file.items, item] }, undefined])
  } catch (thrown) {
    run.close()
    throw thrown
  }
  ground.audit(trigger, cwd, 'accepted', { details: { delivery: 'sub_agent', rule_count: rules.length } })
  const done = runCheck(ground, departures, run, { item, trigger, rules, cwd }).finally(() => run.close())
  return { traceId: trigger.traceId, done }
}
