import { cleanText } from '@tapline/core'
import type { RulesStatus } from '@tapline/rules-sink'
import { fit, pad } from '../screen/columns.ts'
import type { Arrivals } from './arrivals.ts'

/** pi shows at most ten lines of a widget. */
const MOST_SOURCES = 6
const NAME_WIDTH = 20
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const
/** Two minutes a bar: thirty of them leave room for a name and a number in eighty columns. */
const MINUTES_PER_BAR = 2

/** The panel's lines, none wider than eighty columns. */
export function panelLines(
  arrivals: Arrivals,
  idle: readonly string[],
  status: RulesStatus | undefined,
  now: number,
): readonly string[] {
  const busy = arrivals.sources(now)
  const names = new Set(busy.map(({ source }) => source))
  const quiet = idle.filter((source) => !names.has(source)).map((source) => ({ source, total: 0 }))
  const all = [...busy, ...quiet]
  const shown = all.slice(0, MOST_SOURCES)
  const lines = shown.map(({ source, total }) => {
    const name = pad(fit(cleanText(source, NAME_WIDTH), NAME_WIDTH), NAME_WIDTH)
    return `  ${name} ${sparkline(arrivals.of(source, now))} ${total}`
  })
  return [
    'pushes, last hour',
    ...(lines.length === 0 ? ['  no source'] : lines),
    ...(all.length > shown.length ? [`  + ${all.length - shown.length} more: /triggers sources`] : []),
    ...(status ? [rulesLine(status)] : []),
  ]
}

/** Counts as bars, the highest for the most; a bar that is not the lowest means that something came. */
export function sparkline(counts: readonly number[]): string {
  const bars = Array.from({ length: Math.ceil(counts.length / MINUTES_PER_BAR) }, (_, index) =>
    counts
      .slice(index * MINUTES_PER_BAR, (index + 1) * MINUTES_PER_BAR)
      .reduce((sum, count) => sum + count, 0),
  )
  const most = Math.max(...bars, 1)
  const steps = BARS.length - 1
  return bars.map((count) => BARS[count === 0 ? 0 : Math.max(1, Math.round((count / most) * steps))]).join('')
}

function rulesLine({ rules, running, limit, waiting, budget }: RulesStatus): string {
  const parts = [
    `rules ${rules.enabled}/${rules.total}`,
    `running ${running} of ${limit}`,
    `queue ${waiting}`,
    ...(budget.capUsd > 0 ? [`$${budget.spentUsd.toFixed(2)} of $${budget.capUsd.toFixed(2)} today`] : []),
  ]
  return `  ${parts.join(' · ')}`
}
