import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { TaplineOptions } from '@tapline/headless'

/**
 * How servers of this session ask the person; nothing where nobody can be asked. It is done with pi's dialogs, and what
 * draws them is loaded with the first question. What is unanswered when the session ends is cancelled.
 */
export function createElicitation(
  pi: Pick<ExtensionAPI, 'on'>,
  ctx: ExtensionContext,
): Pick<TaplineOptions, 'elicit'> {
  if (!ctx.hasUI) return {}
  const ended = new AbortController()
  pi.on('session_shutdown', () => ended.abort())
  const load = async () => (await import('./asking.ts')).createAsking(ctx, ended.signal)
  let asking: ReturnType<typeof load> | undefined
  return {
    elicit: async (server, question, signal) => {
      asking ??= load()
      return (await asking).ask(server.name, question, signal)
    },
  }
}
