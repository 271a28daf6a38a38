import type { Chat, Plugin, Receipt, Trigger } from '@tapline/core'
import { frameEvent, frameSummary } from './framing.ts'

/**
 * Delivers triggers into the chat: `summary` shows them, `run` starts one turn with them. What belongs to another project
 * is left to the inbox.
 */
export const chatSink = (): Plugin => ({
  name: 'chat-sink',
  api: 1,
  setup({ hooks, host }) {
    const { chat, paths, projects } = host
    if (!chat) return
    const deliver =
      (sink: string, frame: (trigger: Trigger) => string, say: Chat['show']) =>
      (trigger: Trigger): Receipt => {
        const { traceId, server, method, cwd } = trigger
        if (cwd !== undefined && !projects.same(cwd, paths.cwd))
          return { sink, refused: `it belongs to ${cwd}` }
        try {
          say({ text: frame(trigger), traceId, server, method, trigger })
          return { sink }
        } catch (thrown) {
          // The chat says why in a sentence: it has ended, or the day's budget is spent.
          return { sink, refused: thrown instanceof Error ? thrown.message : String(thrown) }
        }
      }
    hooks.deliver.sink('summary').tap(
      {},
      deliver('summary', frameSummary, (message) => chat.show(message)),
    )
    hooks.deliver.sink('run').tap(
      {},
      deliver('run', frameEvent, (message) => chat.run(message)),
    )
  },
})
