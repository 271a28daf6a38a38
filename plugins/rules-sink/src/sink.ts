import { randomUUID } from 'node:crypto'
import type { DeliverContext, Receipt, Trigger } from '@tapline/core'
import type { Engine } from './engine.ts'
import type { Ground } from './ground.ts'
import { enter, type Entered } from './queue/entering.ts'
import { type Leaving, type StoredTrigger, storedTrigger } from './queue/item.ts'
import { reasonOf } from './troubles.ts'
import type { Rule } from './types.ts'

const SINK = 'rules'

/** What a push is asked and what becomes of it. */
export interface Delivery {
  /** Whether no rule could match it: then it need not even be claimed. */
  leadsNowhere(trigger: Trigger): boolean
  /** In the queue before it is acknowledged, since a check takes minutes. */
  deliver(trigger: Trigger, context: DeliverContext): Promise<Receipt | undefined>
}

/** What the sink does with pushes. */
export function createDelivery(ground: Ground, engine: Engine): Delivery {
  const projectsOf = projectsIn(ground)
  const deliver: Delivery['deliver'] = async (trigger, { signal }) => {
    const { problem } = ground.store.snapshot()
    // Nobody knows whether a rule would match: the inbox has the push.
    if (problem !== undefined) {
      ground.troubles.tell(problem)
      return refuse(ground, trigger, problem)
    }
    const projects = projectsOf(trigger)
    if (projects.length === 0) return { sink: SINK, dropped: NO_RULES }
    const rules = projects.flatMap((project) => project.rules)
    if (ground.agents === undefined && rules.every((rule) => ground.owns(rule)))
      return { sink: SINK, dropped: 'no sub-agents here' }
    if (ground.spending.isOver()) return refuseOverBudget(ground, trigger)
    const answers: Entered['as'][] = []
    for (const [at, project] of projects.entries()) {
      // A host stands in for every project: the first keeps the trace, the others have their own.
      const stored = storedTrigger(at === 0 ? trigger : { ...trigger, traceId: randomUUID() })
      try {
        const as = await enqueue(ground, stored, project, signal)
        if (as === undefined) return undefined
        answers.push(as)
      } catch (thrown) {
        return refuse(ground, trigger, reasonOf(thrown))
      }
    }
    engine.pump.poke()
    ground.changed()
    const isNew = answers.some((as) => as === 'queued' || as === 'replaced')
    return isNew ? { sink: SINK } : { sink: SINK, dropped: 'an equal push is being checked' }
  }
  return { leadsNowhere: withoutRules(ground, projectsOf), deliver }
}

/** A look at the file costs more than all else that happens to such a push: in a flood it is taken once for many. */
const LOOK_AGAIN_MS = 2

function withoutRules(
  ground: Ground,
  projectsOf: (trigger: Trigger) => readonly Project[],
): (trigger: Trigger) => boolean {
  let nowhere: { readonly cwd: string | undefined; readonly until: number } | undefined
  ground.onChange(() => (nowhere = undefined))
  return (trigger) => {
    const now = performance.now()
    if (nowhere !== undefined && nowhere.until > now && nowhere.cwd === trigger.cwd) return true
    const is = ground.store.snapshot().problem === undefined && projectsOf(trigger).length === 0
    nowhere = is ? { cwd: trigger.cwd, until: now + LOOK_AGAIN_MS } : undefined
    return is
  }
}

interface Project {
  /** Real path. */
  readonly cwd: string
  readonly rules: readonly Rule[]
}

/**
 * The project of a push, if it has enabled rules. A host has no project of its own, and stands in for each that has
 * some. Asked for every push there is: remembered as long as the rules are the same.
 */
function projectsIn({ host, store, cwd: own, projects }: Ground): (trigger: Trigger) => readonly Project[] {
  let known: readonly Rule[] | undefined
  let found = new Map<string, readonly Project[]>()
  const find = (cwd: string | undefined): readonly Project[] => {
    const enabled = store.snapshot().rules.filter((rule) => rule.enabled)
    if (cwd !== undefined || host.windows?.self.kind !== 'host') {
      const at = cwd === undefined ? own : projects.real(cwd)
      const rules = enabled.filter((rule) => projects.same(rule.cwd, at))
      return rules.length === 0 ? [] : [{ cwd: at, rules }]
    }
    const byProject = new Map<string, Rule[]>()
    for (const rule of enabled) {
      const real = projects.real(rule.cwd)
      byProject.set(real, [...(byProject.get(real) ?? []), rule])
    }
    return [...byProject].map(([real, rules]) => ({ cwd: real, rules }))
  }
  return ({ cwd }) => {
    const { rules } = store.snapshot()
    if (rules !== known || found.size > MOST_REMEMBERED) {
      known = rules
      found = new Map()
    }
    let its = found.get(cwd ?? '')
    if (its === undefined) found.set(cwd ?? '', (its = find(cwd)))
    return its
  }
}

const NO_RULES = 'no rules'
const MOST_REMEMBERED = 100

async function enqueue(
  ground: Ground,
  trigger: StoredTrigger,
  { cwd, rules }: Project,
  signal: AbortSignal,
): Promise<Entered['as'] | undefined> {
  const ruleIds = rules.map((rule) => rule.id)
  const entered = await ground.queue.change<Entered | undefined>((file) => {
    if (signal.aborted) return [file, undefined]
    const result = enter(file, { trigger, cwd, ruleIds, self: ground.self() })
    // Before anybody can see it in the queue, or its check would have rows before this one.
    bookEntered(ground, trigger, cwd, ruleIds, result[1])
    return result
  })
  if (entered === undefined || !signal.aborted) return entered?.as
  // It took too long and the inbox has it already.
  await ground.queue.change((file) => {
    const items = file.items.filter((item) => item.trigger.traceId !== trigger.traceId)
    return [{ ...file, items }, undefined]
  })
  return undefined
}

function bookEntered(
  ground: Ground,
  trigger: StoredTrigger,
  cwd: string,
  ruleIds: readonly string[],
  { as, pending, leaving }: Entered,
): void {
  const isNew = as === 'queued' || as === 'replaced'
  ground.audit(trigger, cwd, isNew ? 'accepted' : 'deduped', {
    details: {
      delivery: 'sub_agent',
      ...(isNew ? { evaluator_decision: { outcome: 'accept', permission: 'allow' } } : {}),
      queued: as,
      pending,
      rule_count: ruleIds.length,
    },
  })
  for (const old of leaving) bookLeaving(ground, old)
}

/** Each that had to make room has a row of its own, and a place in the inbox. */
function bookLeaving({ audit }: Ground, { trigger, cwd, reason }: Leaving): void {
  audit(trigger, cwd, 'dropped', { details: { reason, to: 'inbox' } })
}

function refuseOverBudget(ground: Ground, trigger: Trigger): Receipt {
  const { capUsd, spentUsd } = ground.spending
  const details = { spent_usd: spentUsd(), cap_usd: capUsd }
  return refuse(ground, trigger, "today's budget is spent", 'budget_exceeded', details)
}

/** It goes to the inbox, with the reason. */
function refuse(
  { audit, projects, cwd: own }: Ground,
  trigger: Trigger,
  reason: string,
  state = 'failed',
  details: Readonly<Record<string, unknown>> = { reason },
): Receipt {
  const cwd = trigger.cwd === undefined ? own : projects.real(trigger.cwd)
  audit(storedTrigger(trigger), cwd, state, { details })
  return { sink: SINK, refused: `not checked against rules: ${reason}` }
}
