/** The options of `tapline.*` and pi-loops' `config.toml`, checked. */
export interface Settings {
  readonly pollIntervalMs: number
  readonly runTimeoutMs: number
  readonly maxConcurrentRuns: number
  /** 0: there is none. */
  readonly dailyBudgetUsd: number
}

interface Option {
  readonly fallback: number
  readonly least: number
  readonly most: number
  readonly whole?: boolean
}

/** A week: longer timers would fire at once. */
const MOST_SECS = 7 * 24 * 60 * 60

const OPTIONS = {
  poll_interval_secs: { fallback: 600, least: 1, most: MOST_SECS },
  run_timeout_secs: { fallback: 900, least: 1, most: 24 * 60 * 60 },
  max_concurrent_runs: { fallback: 3, least: 1, most: 64, whole: true },
  daily_budget_usd: { fallback: 0, least: 0, most: 1_000_000 },
} satisfies Readonly<Record<string, Option>>

/** Reads the options; `tell` is given one sentence for each that is wrong, whose default then counts. */
export function readOptions(
  options: Readonly<Record<string, unknown>>,
  tell: (problem: string) => void,
): Settings {
  const valueOf = (name: keyof typeof OPTIONS): number => {
    const { fallback, least, most, whole }: Option = OPTIONS[name]
    const value = options[name]
    if (value === undefined) return fallback
    const right = typeof value === 'number' && value >= least && value <= most
    if (right && (!whole || Number.isSafeInteger(value))) return value
    const kind = whole ? 'whole number' : 'number'
    tell(
      `rules-sink: ignoring invalid ${name}: it must be a ${kind} from ${least} to ${most}; it is ${fallback}.`,
    )
    return fallback
  }
  for (const name of Object.keys(options))
    if (!Object.hasOwn(OPTIONS, name))
      tell(`rules-sink: there is no option ${name}; there are ${Object.keys(OPTIONS).join(', ')}.`)
  return {
    pollIntervalMs: valueOf('poll_interval_secs') * 1000,
    runTimeoutMs: valueOf('run_timeout_secs') * 1000,
    maxConcurrentRuns: valueOf('max_concurrent_runs'),
    dailyBudgetUsd: valueOf('daily_budget_usd'),
  }
}
