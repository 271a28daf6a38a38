import type { StopTimes } from './group.ts'

/** What can be set, in code or under this plugin's name in `tapline.*`. */
export interface Settings extends StopTimes {
  /** Largest line a server may send; beyond it the connection ends. */
  readonly maxFrameBytes: number
  /** Longest wait for output that was written before the server ended, in milliseconds. */
  readonly drainMs: number
}

const DEFAULTS: Settings = {
  maxFrameBytes: 64 * 1024 * 1024,
  endGraceMs: 1_000,
  termGraceMs: 1_000,
  killGraceMs: 500,
  drainMs: 500,
}

/** The defaults with `options` over them. What is not usable is told to `warn` and left out. */
export function settingsOf(
  options: Readonly<Record<string, unknown>>,
  warn: (message: string) => void,
): Settings {
  const settings: Record<keyof Settings, number> = { ...DEFAULTS }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(DEFAULTS, name)) {
      warn(`unknown option "${name}"; known are ${Object.keys(DEFAULTS).join(', ')}`)
    } else if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31) {
      settings[name as keyof Settings] = value
    } else {
      warn(`option "${name}" must be a whole number, got ${JSON.stringify(value)} (${typeof value})`)
    }
  }
  return settings
}
