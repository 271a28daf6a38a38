import type { Plugin } from '@tapline/core'
import { WINDOW_MS } from './entry.ts'
import { openProjectWindow } from './project-window.ts'
import { createWindow } from './window.ts'

export { WINDOW_MS }

/** Options of the plugin. */
export interface DedupWindowOptions {
  /** Length of the window in milliseconds; {@link WINDOW_MS} when absent. */
  readonly windowMs?: number
}

/** Makes equal keys inside the window one event: in this process, or once per project on this machine. */
export const dedupWindow = (options: DedupWindowOptions = {}): Plugin => ({
  name: 'dedup-window',
  api: 1,
  setup({ hooks, host, log }, configured) {
    const windowMs = [options.windowMs, configured.window_ms].find(isLength) ?? WINDOW_MS
    const shown = createWindow(windowMs)
    // Where nothing is delivered, and where the window has no length, there is nothing to tell others.
    if (!host.delivers || windowMs === 0) {
      const evaluated = createWindow(windowMs)
      hooks.dedup.tap({}, ({ trigger, scope }) =>
        scope === 'process' ? shown.claim(trigger) : evaluated.claim(trigger),
      )
      return undefined
    }
    const evaluated = openProjectWindow(host, windowMs, log)
    hooks.dedup.tap({}, (request) =>
      request.scope === 'process' ? shown.claim(request.trigger) : evaluated.known(request),
    )
    // Only for what has to be looked up: what is known is answered without a turn of the event loop.
    hooks.dedup.tapPromise({}, (request) => evaluated.claim(request))
    return () => evaluated.close()
  },
})

/** NaN is a number in TOML too; a window of that length would never end. */
function isLength(value: unknown): value is number {
  return typeof value === 'number' && value >= 0
}
