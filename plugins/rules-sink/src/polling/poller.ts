import type { Departures } from '../checks/departures.ts'
import { periodicEvent } from '../checks/event.ts'
import { groupsOf } from '../checks/groups.ts'
import type { Runs } from '../checks/runs.ts'
import { isDirectory } from '../directory.ts'
import type { Ground } from '../ground.ts'
import { pastTime, stamp } from '../stamps.ts'
import { reasonOf } from '../troubles.ts'
import type { Rule } from '../types.ts'
import { isBackedOff } from './backoff.ts'

const [LOOKING, BEGINNING] = ['looking which rules are due', 'beginning a periodic check']

/** Checks this session's rules from time to time. */
export interface Poller {
  /** Looks which are due. Resolves when their checks have begun. Never rejects. */
  tick(): Promise<void>
}

/** A poller of this session. `onEnd` is called when a check has ended. */
export function createPoller(ground: Ground, runs: Runs, departures: Departures, onEnd: () => void): Poller {
  const checking = new Set<string>()
  /** Said once until it is otherwise. */
  const skipped = new Map<string, string>()

  const skip = (
    slot: string,
    rules: readonly Rule[],
    state: string,
    details: Record<string, unknown>,
  ): void => {
    const day = new Date().toDateString()
    if (skipped.get(slot) === `${state} ${day}`) return
    skipped.set(slot, `${state} ${day}`)
    const cwd = ground.projects.real((rules[0] as Rule).cwd)
    ground.audit(periodicEvent(cwd, rules.length, ground.self().instance), cwd, state, { details })
  }
  const check = async (slot: string, rules: readonly Rule[]): Promise<void> => {
    checking.add(slot)
    try {
      const { startPeriodic } = await import('./periodic.ts')
      for (const group of groupsOf(rules, ground.projects)) {
        const started = await startPeriodic(ground, runs, departures, group)
        ground.troubles.works(BEGINNING)
        if ('refused' in started) return skip(slot, rules, 'deferred', { reason: started.refused })
        await started.done
        onEnd()
        if (ground.spending.isOver()) return
      }
    } catch (thrown) {
      ground.troubles.fails(BEGINNING, `a periodic check could not begin: ${reasonOf(thrown)}`)
    } finally {
      checking.delete(slot)
    }
  }
  const poll = async (slot: string, rules: readonly Rule[]): Promise<void> => {
    if (checking.has(slot)) return
    const { spending, polls, settings } = ground
    if (spending.isOver())
      return skip(slot, rules, 'budget_exceeded', {
        spent_usd: spending.spentUsd(),
        cap_usd: spending.capUsd,
      })
    if (runs.isFull)
      return skip(slot, rules, 'deferred', {
        reason: `${runs.inUse} sub-agent(s) already in flight (max ${runs.limit})`,
      })
    if (!(await polls.claim(slot, settings.pollIntervalMs))) return
    skipped.delete(slot)
    void check(slot, rules)
  }
  let ticking = false
  return {
    tick: async () => {
      if (ticking || ground.agents === undefined) return
      ticking = true
      try {
        const owned = ground.store.list({ all: true }).filter((rule) => rule.enabled && ground.owns(rule))
        const there = await withDirectory(ground, owned)
        const due = there.filter((rule) => !isBackedOff(rule))
        if (due.length > 0 && (await ground.store.obstacle()) === undefined)
          for (const [slot, rules] of bySlot(ground, due)) await poll(slot, rules)
        ground.troubles.works(LOOKING)
      } catch (thrown) {
        ground.troubles.fails(LOOKING, `periodic checks cannot be made: ${reasonOf(thrown)}`)
      } finally {
        ticking = false
      }
    },
  }
}

/** What is checked once an interval: a project's rules; those of a session that is open apart. */
function bySlot({ host, projects }: Ground, rules: readonly Rule[]): ReadonlyMap<string, readonly Rule[]> {
  const open = new Set((host.windows?.list() ?? []).flatMap(({ sessionId }) => sessionId ?? []))
  const slots = new Map<string, Rule[]>()
  for (const rule of rules) {
    const { sessionId } = rule.createdBy
    const isOpen = sessionId !== undefined && open.has(sessionId)
    const slot = slotOf(projects.real(rule.cwd), isOpen ? sessionId : undefined)
    const members = slots.get(slot)
    if (members) members.push(rule)
    else slots.set(slot, [rule])
  }
  return slots
}

/** The name of a slot in `polls.json`. `real` is a real path. */
export function slotOf(real: string, sessionId?: string): string {
  return `${real}${sessionId === undefined ? '' : `#${sessionId}`}`
}

/**
 * The rules whose directory is there. One that is missing may be on a disk that is mounted late: its rules wait half an
 * hour, and are then disabled with the reason.
 */
async function withDirectory(ground: Ground, rules: readonly Rule[]): Promise<readonly Rule[]> {
  const { store, audit, timing } = ground
  const there = rules.filter((rule) => isDirectory(rule.cwd))
  const gone = rules.filter((rule) => !there.includes(rule))
  const sinceOf = (rule: Rule): number | undefined => pastTime(rule.cwdMissingSince)
  const noted = new Map<string, string | undefined>([
    ...there.flatMap((rule) => (rule.cwdMissingSince === undefined ? [] : [[rule.id, undefined] as const])),
    ...gone.flatMap((rule) => (sinceOf(rule) === undefined ? [[rule.id, stamp(Date.now())] as const] : [])),
  ])
  if (noted.size > 0) await store.missing(noted)
  for (const rule of gone) {
    const since = sinceOf(rule)
    if (since === undefined || Date.now() - since < timing.graceMs) continue
    const reason = `its directory ${rule.cwd} has been missing since ${rule.cwdMissingSince}`
    await store.disable(rule.id, reason)
    audit(periodicEvent(rule.cwd, 1, ground.self().instance), rule.cwd, 'disabled', {
      details: { rule_ids: [rule.id], reason },
    })
  }
  return there
}
