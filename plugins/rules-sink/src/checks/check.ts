import type { AgentOutcome } from '@tapline/core'
import type { Ground } from '../ground.ts'
import type { Item, StoredTrigger } from '../queue/item.ts'
import { reasonOf } from '../troubles.ts'
import type { CheckResult, Rule } from '../types.ts'
import { mark } from '../queue/working.ts'
import type { Departures } from './departures.ts'
import { concludeCheck } from './conclusion.ts'
import { longest, modelOf } from './limits.ts'
import { checkPrompt } from './prompt.ts'
import { openReport, type Report } from './report.ts'
import type { Run } from './runs.ts'
import { transcriptDirOf } from './transcript-dir.ts'
import { verdictOf } from './verdict.ts'
import { cut, LONGEST_RESULT } from './wording.ts'

/** One check: rules of one directory against one event. Their parts of the item are ours. */
export interface Check {
  readonly item: Pick<Item, 'id' | 'kind'>
  readonly trigger: StoredTrigger
  readonly rules: readonly Rule[]
  /** Real path: where the sub-agent works. */
  readonly cwd: string
  /** Set when the event had to wait. */
  readonly deferredMs?: number
}

/** Lets a sub-agent check the rules, and does what follows from it. Never rejects: nobody waits for most checks. */
export async function runCheck(
  ground: Ground,
  departures: Departures,
  run: Run,
  check: Check,
): Promise<CheckResult> {
  try {
    return await carryOut(ground, departures, run, check)
  } catch (thrown) {
    const error = `a check failed in itself: ${reasonOf(thrown)}`
    ground.troubles.happened(error)
    const { traceId } = check.trigger
    return { traceId, status: 'failed', matchedRuleIds: [], error, costUsd: 0, text: '' }
  }
}

async function carryOut(
  ground: Ground,
  departures: Departures,
  run: Run,
  check: Check,
): Promise<CheckResult> {
  const { audit } = ground
  const { trigger, cwd, rules } = check
  const ids = rules.map((rule) => rule.id)
  const report = openReport({
    ids,
    record: (matched) => recordMatches(ground, check, matched),
    onUnknown: (unknown) =>
      audit(trigger, cwd, 'report_refused', {
        type: 'trigger_result',
        details: { unknown_rule_ids: unknown.slice(0, 20), rule_ids: ids },
      }),
  })
  audit(trigger, cwd, 'running', { details: { rule_count: rules.length, rule_ids: ids } })
  const outcome = await outcomeOf(ground, run, check, report)
  await report.close()
  const verdict = verdictOf(ids, report, outcome, run.ending)
  const result: CheckResult = {
    traceId: trigger.traceId,
    status: verdict.status,
    matchedRuleIds: report.matched,
    ...(verdict.error === undefined ? {} : { error: ground.redact(verdict.error) }),
    costUsd: outcome.costUsd,
    ...(outcome.transcript === undefined ? {} : { transcript: outcome.transcript }),
    text: cut(ground.redact(outcome.text).trim(), LONGEST_RESULT),
  }
  try {
    await concludeCheck(ground, departures, { check, report, verdict, result, ending: run.ending })
  } catch (thrown) {
    ground.troubles.happened(`what came of a check could not be recorded: ${reasonOf(thrown)}`)
  }
  return result
}

/**
 * Durable before the sub-agent hears of it: first in the queue, so that another process knows that actions may have
 * begun, then with the rules, of which those that fire once are disabled.
 */
async function recordMatches(
  { queue, store, self }: Ground,
  { item }: Check,
  ids: readonly string[],
): Promise<readonly string[]> {
  const takeBack = (refused: readonly string[]): Promise<unknown> =>
    queue.change((file) => mark(file, item.id, refused, self(), 'running'))
  const ours = await queue.change((file) => mark(file, item.id, ids, self(), 'reported'))
  if (ours.length < ids.length) {
    await takeBack(ours)
    throw new Error('another process has taken this check over')
  }
  let fired: readonly string[]
  try {
    fired = await store.fired(ids)
  } catch (thrown) {
    await takeBack(ids)
    throw thrown
  }
  const refused = ids.filter((id) => !fired.includes(id))
  if (refused.length > 0) await takeBack(refused)
  return fired
}

/** The sub-agent's end, whatever it does: one that neither ends nor fails is given up. */
async function outcomeOf(ground: Ground, run: Run, check: Check, report: Report): Promise<AgentOutcome> {
  const { agents, spending, timing, settings, host } = ground
  const timeoutMs = longest(check.rules) ?? settings.runTimeoutMs
  const transcriptDir = transcriptDirOf(host.paths.loopsDir, check.cwd)
  let counted = 0
  let overBudget = false
  const count = (costUsd: number): void => {
    spending.record(costUsd - counted)
    counted = Math.max(counted, costUsd)
  }
  const lost = (status: 'failed' | 'timeout' | 'aborted', error: string): AgentOutcome => ({
    status,
    error,
    text: '',
    costUsd: counted,
  })
  const timers: NodeJS.Timeout[] = []
  const after = (ms: number, status: 'timeout' | 'aborted'): Promise<AgentOutcome> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(lost(status, 'the sub-agent did not end within its time')), ms)
      timer.unref()
      timers.push(timer)
    })
  const aborted = new Promise<AgentOutcome>((resolve) => {
    const onAbort = (): void => void after(timing.endMs, 'aborted').then(resolve)
    if (run.signal.aborted) onAbort()
    else run.signal.addEventListener('abort', onAbort, { once: true })
  })
  const work = Promise.resolve()
    .then(() =>
      agents?.run({
        cwd: check.cwd,
        prompt: checkPrompt(check),
        ...modelOf(check.rules),
        timeoutMs,
        signal: run.signal,
        tools: [report.tool],
        transcriptDir,
        onCost: (costUsd) => {
          count(costUsd)
          overBudget = spending.isOver()
          return !overBudget
        },
      }),
    )
    .catch((thrown: unknown) => lost('failed', thrown instanceof Error ? thrown.message : String(thrown)))
  try {
    const outcome = await Promise.race([work, aborted, after(timeoutMs + timing.endMs, 'timeout')])
    if (outcome === undefined) return lost('failed', 'no sub-agent can run here')
    count(outcome.costUsd)
    return overBudget && outcome.status !== 'completed' ? { ...outcome, status: 'over_budget' } : outcome
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}
