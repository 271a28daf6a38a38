import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Chat, ChatMessage } from '@tapline/core'

/** The custom type of every message that a push becomes. */
const PUSH_MESSAGE = 'tapline:push'

/** pi says when a run has settled, but not when a compaction has: while a turn waits, it looks again by itself. */
const LOOK_AGAIN_MS = 250

/** The chat of one pi session. */
export interface SessionChat extends Chat {
  /** Starts the next turn that waited, when the agent is idle. */
  flush(): void
  /** Turns that still wait are only shown, so that the transcript has them; then nothing is sent any more. */
  close(): void
}

/**
 * Pushes as custom messages. A turn never starts while the agent runs: it waits here and not in pi's
 * queue, which an interrupted run would empty.
 */
export function createChat(pi: ExtensionAPI, ctx: ExtensionContext): SessionChat {
  const waiting: ChatMessage[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const send = ({ text, traceId, server, method }: ChatMessage, triggerTurn: boolean): void => {
    pi.sendMessage(
      { customType: PUSH_MESSAGE, content: text, display: true, details: { traceId, server, method } },
      { triggerTurn },
    )
  }
  const flush = (): void => {
    clearTimeout(timer)
    if (closed) return
    const next = ctx.isIdle() ? waiting.shift() : undefined
    if (next) send(next, true)
    if (waiting.length > 0) timer = setTimeout(flush, LOOK_AGAIN_MS).unref()
  }
  const refuseWhenClosed = (): void => {
    if (closed) throw new Error('The session has ended.')
  }
  return {
    show: (message) => {
      refuseWhenClosed()
      send(message, false)
    },
    run: (message) => {
      refuseWhenClosed()
      waiting.push(message)
      flush()
    },
    flush,
    close: () => {
      closed = true
      clearTimeout(timer)
      for (const message of waiting.splice(0)) send(message, false)
    },
  }
}
