import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '@tapline/core'

type Tables = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The keys of pi-loops' `config.toml` that are read, and whose option each is. */
const KEYS: readonly {
  readonly table: string
  readonly key: string
  readonly plugins: readonly string[]
  readonly least: number
}[] = [
  { table: 'triggers', key: 'poll_interval_secs', plugins: ['rules-sink'], least: 1 },
  { table: 'triggers', key: 'run_timeout_secs', plugins: ['rules-sink'], least: 1 },
  { table: 'cron', key: 'max_concurrent_runs', plugins: ['rules-sink'], least: 1 },
  { table: 'limits', key: 'daily_budget_usd', plugins: ['rules-sink'], least: 0 },
]

/**
 * Plugin options over what the person's `<loops dir>/config.toml` says. A wrong value is told of and left out; a file
 * that cannot be read counts as empty.
 */
export async function withLoopsConfig(
  options: Tables,
  loopsDir: string,
  tell: (diagnostic: Diagnostic) => void,
): Promise<Tables> {
  const path = join(loopsDir, 'config.toml')
  const config = await readTables(path, tell)
  const merged: Record<string, Readonly<Record<string, unknown>>> = { ...options }
  for (const { table, key, plugins, least } of KEYS) {
    const value = config[table]?.[key]
    if (value === undefined) continue
    if (typeof value !== 'number' || !(value >= least)) {
      const message = `${table}: ignoring invalid ${key} in ${path}: it must be a number of at least ${least}.`
      tell({ severity: 'warning', message, path })
      continue
    }
    for (const plugin of plugins) merged[plugin] = { [key]: value, ...merged[plugin] }
  }
  return merged
}

async function readTables(path: string, tell: (diagnostic: Diagnostic) => void): Promise<Tables> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') {
      const message = `${path} could not be read (${(thrown as NodeJS.ErrnoException).code}); its settings are the defaults.`
      tell({ severity: 'warning', message, path })
    }
    return {}
  }
  const { parse, TomlError } = await import('smol-toml')
  try {
    const parsed: Record<string, unknown> = parse(text)
    const isTable = (value: unknown): value is Record<string, unknown> =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
    return Object.fromEntries(Object.entries(parsed).filter(([, value]) => isTable(value))) as Tables
  } catch (thrown) {
    const line = thrown instanceof TomlError ? thrown.line : undefined
    const message = `${path} is not valid TOML${line === undefined ? '' : ` (line ${line})`}; its settings are the defaults.`
    tell({ severity: 'warning', message, path, ...(line === undefined ? {} : { line }) })
    return {}
  }
}
