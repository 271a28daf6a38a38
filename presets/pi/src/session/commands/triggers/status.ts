import type { Tapline } from '@tapline/headless'
import { durationText } from '../../rules-text.ts'
import { sourcesOf, timeText } from '../../sources-text.ts'
import type { Toolbox } from '../../toolbox.ts'
import { money } from './runs.ts'
import type { Subcommand } from './subcommand.ts'

/** `/triggers status`. */
export const showStatus: Subcommand = {
  names: ['status'],
  description: 'rules, who checks them, sources, what runs and what it has cost today',
  run: (_rest, ctx, { tapline, toolbox }) => ctx.ui.notify(statusText(tapline, toolbox), 'info'),
}

function statusText(tapline: Tapline, toolbox: Toolbox): string {
  const { servers, pipeline, services } = tapline
  const sources = sourcesOf(tapline, toolbox)
  const deduped = servers.reduce((sum, { spec }) => sum + pipeline.book(spec.name).deduped, 0)
  const problems = tapline.diagnostics.filter(({ severity }) => severity !== 'info')
  const lines = [
    ...rulesStatus(services.rules?.status()),
    `  mcp servers: ${servers.length} configured${problems.length === 0 ? '' : ` · ${problems.length} config problem(s), listed by /triggers sources`}`,
    `  sources: ${sources.length} total, ${sources.filter(({ connected }) => connected).length} connected, ${sources.filter(({ attention }) => attention).length} require attention`,
    `  deduped: ${deduped} · cycle_suppressed: 0 (sub-agents take no pushes)`,
  ]
  return ['Triggers', ...lines].join('\n')
}

type Status = ReturnType<NonNullable<Tapline['services']['rules']>['status']>

function rulesStatus(status: Status | undefined): readonly string[] {
  if (!status) return ['  rules: the plugin "rules-sink" is disabled']
  const { rules, checker, active, budget, running, limit, waiting } = status
  const who = checker.self ? `this session (pid ${checker.pid})` : `pid ${checker.pid}`
  const last = status.lastCheckAt === undefined ? 'never' : timeText(status.lastCheckAt)
  const cap = budget.capUsd > 0 ? `of ${money(budget.capUsd)} today` : 'today, no limit'
  return [
    `  rules: ${rules.total} (${rules.enabled} enabled, ${rules.disabled} disabled) · ${rules.fireOnce} fire_once, ${rules.repeat} repeat · ${rules.promote} promote_to_chat`,
    `  local checker: ${active ? who : 'does not run here'} · every ${durationText(status.pollIntervalSecs * 1_000)} · last check ${last}`,
    `  running: ${running} of ${limit} · waiting: ${waiting} · spent ${money(budget.spentUsd)} ${cap}`,
    `  storage: ${status.storagePath}`,
    `  audit: ${status.auditPath}`,
    ...(status.persistenceError === undefined ? [] : [`  ! ${status.persistenceError}`]),
  ]
}
