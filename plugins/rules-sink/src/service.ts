import { isDirectory } from './directory.ts'
import type { Engine } from './engine.ts'
import { auditPathOf, type Ground } from './ground.ts'
import { slotOf } from './polling/poller.ts'
import { sourceOf } from './checks/event.ts'
import { reasonOf } from './troubles.ts'
import type { QueuedPush, Rule, Rules, RulesStatus, RuleStore, StartedCheck } from './types.ts'

/** What presets show and steer. */
export function rulesService(ground: Ground, engine: Engine): Rules {
  const { runs, pump } = engine
  return {
    store: watchedStore(ground, () => pump.poke()),
    running: () => runs.list(),
    slots: () => ({ inUse: runs.inUse, limit: runs.limit }),
    queue: () => queued(ground),
    abort: (ref) => runs.abort(ref),
    runNow: (ruleId) => runNow(ground, engine, ruleId),
    status: () => statusOf(ground, engine),
    recordSpend: (usd) => {
      ground.spending.record(usd)
      ground.changed()
    },
    overBudget: () => ground.spending.isOver(),
    onChange: (listener) => ground.onChange(listener),
  }
}

/** The store; what changes is told of at once. */
function watchedStore({ store, changed }: Ground, onChange: () => void): RuleStore {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work
    changed()
    onChange()
    return result
  }
  return {
    path: store.path,
    list: (scope) => store.list(scope),
    get: (id) => store.get(id),
    problem: () => store.problem(),
    resolve: (ref, cwd) => store.resolve(ref, cwd),
    add: (rule) => told(store.add(rule)),
    remove: (id) => told(store.remove(id)),
    setEnabled: (id, enabled) => told(store.setEnabled(id, enabled)),
    set: (id, changes) => told(store.set(id, changes)),
  }
}

async function runNow(ground: Ground, engine: Engine, ruleId: string): Promise<StartedCheck> {
  const rule = ground.store.get(ruleId)
  const refused = refusalOf(ground, rule) ?? (await ground.store.obstacle())
  if (refused !== undefined) return { refused }
  try {
    const group = { cwd: ground.projects.real((rule as Rule).cwd), rules: [rule as Rule] }
    const { startPeriodic } = await import('./polling/periodic.ts')
    const started = await startPeriodic(ground, engine.runs, engine.departures, group)
    if ('done' in started) void started.done.finally(() => engine.pump.poke())
    return started
  } catch (thrown) {
    return { refused: `The check could not begin: ${reasonOf(thrown)}` }
  }
}

function refusalOf(ground: Ground, rule: Rule | undefined): string | undefined {
  const { spending } = ground
  if (ground.agents === undefined) return 'No sub-agent can run in this session, so no rule is checked here.'
  if (rule === undefined) return ground.store.problem() ?? 'There is no such rule any more.'
  if (!rule.enabled)
    return `Rule ${rule.id} is disabled${rule.disabledReason ? `: ${rule.disabledReason}` : ''}. Enable it first.`
  if (!ground.projects.same(rule.cwd, ground.cwd))
    return `Rule ${rule.id} belongs to another project, ${rule.cwd}: run it in a session there.`
  if (!isDirectory(rule.cwd)) return `${rule.cwd}, the directory of rule ${rule.id}, is missing.`
  if (spending.isOver())
    return `Today's budget of $${spending.capUsd.toFixed(2)} is spent ($${spending.spentUsd().toFixed(2)}).`
  return undefined
}

function queued(ground: Ground): readonly QueuedPush[] {
  try {
    return ground.queue
      .read()
      .items.filter((item) => item.kind === 'push')
      .toSorted((a, b) => a.trigger.receivedAt - b.trigger.receivedAt)
      .map(({ trigger, cwd, parts }): QueuedPush => {
        const ruleIds = Object.keys(parts)
        const rule = ground.store.get(ruleIds[0] ?? '')
        return {
          traceId: trigger.traceId,
          source: sourceOf(trigger),
          event: trigger.method,
          summary: trigger.summary,
          cwd,
          receivedAt: trigger.receivedAt,
          ruleIds,
          owned: ground.owns(rule ?? { cwd, createdBy: {} }),
          state: Object.values(parts).some((part) => part.state !== 'waiting') ? 'running' : 'waiting',
        }
      })
  } catch {
    // Whoever is to check what waits tells of it.
    return []
  }
}

function statusOf(ground: Ground, { runs }: Engine): RulesStatus {
  const { store, host, cwd, spending, polls, projects, settings } = ground
  const rules = store.list({ cwd })
  const countOf = (is: (rule: Rule) => boolean): number => rules.filter(is).length
  const owner = ground.ownerOf({ cwd, createdBy: {} })
  const slots = new Set([cwd, ...rules.map((rule) => projects.real(rule.cwd))].map((real) => slotOf(real)))
  const lastCheckAt = polls.lastOf((slot) => slots.has(slot) || slots.has(slot.replace(/#[^#]*$/, '')))
  const problem = store.problem() ?? ground.troubles.latest
  return {
    rules: {
      total: rules.length,
      enabled: countOf((rule) => rule.enabled),
      disabled: countOf((rule) => !rule.enabled),
      fireOnce: countOf((rule) => rule.fireOnce),
      repeat: countOf((rule) => !rule.fireOnce),
      promote: countOf((rule) => rule.promoteToChat),
    },
    active: ground.agents !== undefined,
    checker: {
      pid: owner?.pid ?? process.pid,
      self: owner === undefined || host.windows?.isSelf(owner) === true,
    },
    pollIntervalSecs: settings.pollIntervalMs / 1000,
    ...(lastCheckAt === undefined ? {} : { lastCheckAt }),
    running: runs.inUse,
    limit: runs.limit,
    waiting: queued(ground).filter((push) => push.state === 'waiting').length,
    budget: { spentUsd: spending.spentUsd(), capUsd: spending.capUsd },
    storagePath: store.path,
    auditPath: auditPathOf(host.paths.loopsDir),
    ...(problem === undefined ? {} : { persistenceError: problem }),
  }
}
