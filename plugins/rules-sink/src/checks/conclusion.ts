import type { Ground } from '../ground.ts'
import type { QueueFile } from '../queue/item.ts'
import { isSameOwner } from '../queue/owners.ts'
import { settle } from '../queue/working.ts'
import { FAILURES_BEFORE_BACKOFF } from '../polling/backoff.ts'
import type { CheckResult, Rule } from '../types.ts'
import type { Check } from './check.ts'
import type { Departures } from './departures.ts'
import { sourceOf } from './event.ts'
import type { Report } from './report.ts'
import type { Ending } from './runs.ts'
import type { Verdict } from './verdict.ts'
import { oneLine, promotion } from './wording.ts'

/** A failed check of a push is made once more; then the inbox has the event. */
const MOST_ATTEMPTS = 2

/** What is known when a check has ended. */
export interface Ended {
  readonly check: Check
  readonly report: Pick<Report, 'matched' | 'obstacle' | 'unknown'>
  readonly verdict: Verdict
  readonly result: CheckResult
  readonly ending: Ending | undefined
}

/** Books what a check came to: in the queue, with the rules, in the audit trail, in the chat or the inbox. */
export async function concludeCheck(ground: Ground, departures: Departures, ended: Ended): Promise<void> {
  const { check, verdict, ending } = ended
  bookResult(ground, ended)
  // The session ends: whoever ends it gives back what it holds.
  if (ending === 'session' && verdict.status === 'aborted') return
  const shown = showResult(ground, ended)
  const leaving = [
    ...(verdict.incomplete.length > 0 ? [departures.entry(check.trigger, check.cwd, incomplete(ended))] : []),
    ...(shown.redirected === undefined
      ? []
      : [
          departures.entry(
            { ...check.trigger, summary: shown.redirected },
            check.cwd,
            'no chat of this project is open here',
          ),
        ]),
  ]
  // First, so that what is checked once more is checked apart from what fails.
  await countFailures(ground, check, verdict)
  await ground.backlog.insist((file) => settled(ground, departures, ended, leaving, file))
  await departures.bring()
}

function settled(
  ground: Ground,
  departures: Departures,
  { check, report, verdict, result, ending }: Ended,
  leaving: readonly QueueFile['leaving'][number][],
  file: QueueFile,
): QueueFile {
  const self = ground.self()
  const parts = file.items.find(({ id }) => id === check.item.id)?.parts ?? {}
  const isPush = check.item.kind === 'push'
  const again = verdict.unchecked.filter(
    (id) => isPush && verdict.repeatable && (parts[id]?.attempts ?? 0) < MOST_ATTEMPTS,
  )
  const lost = verdict.unchecked.filter((id) => isPush && ending !== 'user' && !again.includes(id))
  const ids = check.rules.map((rule) => rule.id)
  return settle(file, check.item.id, (part) => isSameOwner(part.owner, self), {
    done: ids.filter((id) => !again.includes(id)),
    again: { ids: again, notBefore: Date.now() + ground.timing.retryMs },
    leaving: [
      ...leaving,
      ...(lost.length > 0
        ? [
            departures.entry(
              check.trigger,
              check.cwd,
              `not checked against ${count(lost)}: ${result.error ?? report.obstacle ?? 'it failed'}`,
            ),
          ]
        : []),
    ],
  })
}

function bookResult({ audit }: Ground, { check, report, verdict, result }: Ended): void {
  const { trigger, cwd } = check
  audit(trigger, cwd, verdict.status, {
    type: 'trigger_result',
    summary: result.text,
    details: {
      rule_ids: check.rules.map((rule) => rule.id),
      matched_rule_ids: report.matched,
      ...(report.unknown.length > 0 ? { unknown_rule_ids: report.unknown.slice(0, 20) } : {}),
      quiet: verdict.status === 'completed' && report.matched.length === 0,
      cost_usd: result.costUsd,
      session_file: result.transcript ?? null,
      ...(result.error === undefined ? {} : { error: result.error }),
    },
  })
}

/** Into the chat when it is of the rule's project; answers what the inbox is to say otherwise. */
function showResult(
  { host, audit, projects, cwd: own }: Ground,
  ended: Ended,
): { readonly redirected?: string } {
  const { check, report, verdict, result } = ended
  const { trigger, cwd } = check
  const book = (state: string, details: Record<string, unknown>): void =>
    audit(trigger, cwd, state, { type: 'trigger_promotion', details: { ...details, delivery: 'sub_agent' } })
  if (report.matched.length === 0) return {}
  const matched = check.rules.filter((rule) => report.matched.includes(rule.id))
  if (verdict.status !== 'completed' || !matched.some((rule) => rule.promoteToChat)) {
    book('skipped', { reason: verdict.status === 'completed' ? 'no rule promotes' : verdict.status })
    return {}
  }
  const text = promotion({ ...result, source: sourceOf(trigger), event: trigger.method })
  if (host.chat !== undefined && projects.same(cwd, own)) {
    try {
      host.chat.show({ text, traceId: trigger.traceId, server: trigger.server, method: trigger.method })
      book('promoted', { to: 'chat', prefix_injected: true })
      return {}
    } catch {
      // The chat has ended meanwhile.
    }
  }
  book('redirected', { to: 'inbox', prefix_injected: false })
  return { redirected: `Result: ${result.text || '(none)'}` }
}

async function countFailures({ store, audit }: Ground, check: Check, verdict: Verdict): Promise<void> {
  const { failed, succeeded } = verdict
  try {
    await store.checked(failed, succeeded)
  } catch {
    // The rules cannot be written, which has been told.
    return
  }
  const backedOff = failed.flatMap((id): readonly Rule[] => {
    const rule = store.get(id)
    return rule && (rule.consecutiveFailures ?? 0) >= FAILURES_BEFORE_BACKOFF ? [rule] : []
  })
  if (backedOff.length === 0) return
  audit(check.trigger, check.cwd, 'backoff', {
    details: {
      rule_ids: backedOff.map((rule) => rule.id),
      consecutive_failures: Math.max(...backedOff.map((rule) => rule.consecutiveFailures ?? 0)),
    },
  })
}

function incomplete({ check, verdict, result }: Ended): string {
  const rules = check.rules.filter((rule) => verdict.incomplete.includes(rule.id))
  return incompleteReason(rules, result.error ?? 'it did not end')
}

/** What the inbox says of rules that matched and whose action nobody saw end. */
export function incompleteReason(rules: readonly Pick<Rule, 'id' | 'action'>[], why: string): string {
  const named = rules.map(({ id, action }) => `${id} (${oneLine(action, 80)})`).join(', ')
  return `matched, but the action of ${named} may be incomplete and is not repeated: ${why}`
}

function count(ids: readonly string[]): string {
  return ids.length === 1 ? `rule ${ids[0]}` : `${ids.length} rules`
}
