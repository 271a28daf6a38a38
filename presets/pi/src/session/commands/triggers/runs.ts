import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { cleanText } from '@tapline/core'
import type { CheckResult, Rule } from '@tapline/rules-sink'
import { durationText, ruleName } from '../../rules-text.ts'
import { candidates } from './rules.ts'
import { ruleNamed, rulesOf, type Subcommand } from './subcommand.ts'

const LONGEST_ANSWER = 600

/** `/triggers run`. */
export const runRule: Subcommand = {
  names: ['run'],
  usage: '<n|id>',
  description: 'checks a rule now',
  complete: candidates,
  run: async (rest, ctx, scope) => {
    if (rest === '' || /\s/.test(rest)) throw new Error('usage: /triggers run <n|id>')
    const rule = ruleNamed(rest, scope)
    const started = await rulesOf(scope).runNow(rule.id)
    if ('refused' in started) throw new Error(`${ruleName(rule)} was not checked: ${started.refused}`)
    ctx.ui.notify(`checking ${ruleName(rule)} (trace ${started.traceId.slice(0, 8)})`, 'info')
    void started.done.then((result) => tell(ctx, rule, result)).catch(() => undefined)
  },
}

/** The session may have ended meanwhile: then the audit trail has it. */
function tell(ctx: ExtensionCommandContext, rule: Rule, result: CheckResult): void {
  const { status, matchedRuleIds, error, costUsd, text } = result
  const trace = `(trace ${result.traceId.slice(0, 8)}, ${money(costUsd)})`
  if (status !== 'completed')
    return ctx.ui.notify(
      `the check of ${ruleName(rule)} ${status}: ${cleanText(error ?? 'no reason given', LONGEST_ANSWER)} ${trace}`,
      'warning',
    )
  const matched = matchedRuleIds.includes(rule.id) ? 'its condition held' : 'its condition did not hold'
  ctx.ui.notify(`checked ${ruleName(rule)}: ${matched} ${trace}\n${cleanText(text, LONGEST_ANSWER)}`, 'info')
}

/** `/triggers running`. */
export const listRunning: Subcommand = {
  names: ['running'],
  description: 'checks that run now, and pushes that wait for one',
  run: (_rest, ctx, scope) => {
    const rules = rulesOf(scope)
    const { inUse, limit } = rules.slots()
    const now = Date.now()
    const running = rules
      .running()
      .flatMap((run) => [
        `  ${run.traceId} ${run.source} ${run.event} · ${elapsed(now - run.startedAt)}`,
        `      ${cleanText(run.promptPreview, 200)}`,
        `      watch: ${run.transcript}`,
      ])
    const queue = rules.queue().map(({ traceId, source, event, summary, receivedAt, state, owned }) => {
      const where = owned ? '' : ' · another pi does it'
      return `  ${traceId} ${source} ${event} · ${state} for ${elapsed(now - receivedAt)}${where} · ${cleanText(summary, 120)}`
    })
    const lines = [
      `${inUse} of ${limit} sub-agent slot(s) in use`,
      ...running,
      ...(queue.length === 0 ? [] : [`pushes for rules (${queue.length}):`, ...queue]),
    ]
    ctx.ui.notify(lines.join('\n'), 'info')
  },
}

/** `/triggers abort`. */
export const abortRuns: Subcommand = {
  names: ['abort'],
  usage: '<trace|prefix>|--all',
  description: 'ends a check that runs, or all of this session',
  complete: (_typed, tapline) => [
    ...(tapline?.services.rules?.running() ?? []).map(({ traceId, event }) => ({
      value: traceId,
      description: event,
    })),
    { value: '--all', description: 'every check of this session' },
  ],
  run: (rest, ctx, scope) => {
    if (rest === '' || /\s|^--(?!all$)/.test(rest))
      throw new Error('usage: /triggers abort <trace|prefix>|--all')
    const { aborted, error } = rulesOf(scope).abort(rest === '--all' ? 'all' : rest)
    if (error !== undefined) throw new Error(error)
    const traces = aborted.map((trace) => trace.slice(0, 8)).join(', ')
    ctx.ui.notify(`aborted ${aborted.length}: ${traces}`, 'info')
  },
}

/** Amounts of a check are small: a cent is a lot. */
export function money(usd: number): string {
  return `$${usd.toFixed(usd >= 1 || usd === 0 ? 2 : 4)}`
}

function elapsed(ms: number): string {
  return durationText(Math.max(1, Math.round(ms / 1_000)) * 1_000)
}
