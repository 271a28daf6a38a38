import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'

/** The same, but in print and JSON runs, where pi shows no notices, they are written to standard error. */
export function audible(ctx: ExtensionCommandContext): ExtensionCommandContext {
  if (ctx.hasUI) return ctx
  const notify = (message: string): void => void process.stderr.write(`${message}\n`)
  const ui = Object.create(ctx.ui, { notify: { value: notify } }) as ExtensionCommandContext['ui']
  return Object.create(ctx, { ui: { value: ui } }) as ExtensionCommandContext
}
