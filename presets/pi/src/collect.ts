import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'

/** The event on which other extensions hand in plugins: `pi.events.on('tapline:collect', (c) => c.add(plugin))`. */
const COLLECT_EVENT = 'tapline:collect'

/** Asks every loaded extension for plugins. Handlers run before `emit` returns. */
export function collectPlugins(pi: ExtensionAPI, ctx: ExtensionContext): readonly unknown[] {
  const plugins: unknown[] = []
  let open = true
  const add = (plugin: unknown): void => {
    if (open) plugins.push(plugin)
    else
      ctx.ui.notify(
        'A plugin was added too late and is left out: call c.add(plugin) inside the tapline:collect handler.',
        'warning',
      )
  }
  pi.events.emit(COLLECT_EVENT, { api: 1, add })
  open = false
  return plugins
}
