import type { Plugin } from '@tapline/core'
import { createWindow } from './window.ts'

/** Five minutes, measured from the first arrival. */
export const WINDOW_MS = 300_000

/** Options of the plugin. */
export interface DedupWindowOptions {
  /** Length of the window in milliseconds; {@link WINDOW_MS} when absent. */
  readonly windowMs?: number
}

/** Makes equal keys inside the window one event. */
export const dedupWindow = (options: DedupWindowOptions = {}): Plugin => ({
  name: 'dedup-window',
  api: 1,
  setup({ hooks }, configured) {
    const windowMs = [options.windowMs, configured.window_ms].find(isLength) ?? WINDOW_MS
    const scopes = { process: createWindow(windowMs), project: createWindow(windowMs) }
    hooks.dedup.tap({}, ({ trigger, scope }) => scopes[scope].claim(trigger))
  },
})

/** NaN is a number in TOML too; a window of that length would never end. */
function isLength(value: unknown): value is number {
  return typeof value === 'number' && value >= 0
}
