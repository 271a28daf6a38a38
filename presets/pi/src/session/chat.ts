import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Chat, ChatMessage } from '@tapline/core'

/** The custom type of every message that a push becomes. */
export const PUSH_MESSAGE = 'tapline:push'

/** The chat of one pi session. */
export interface SessionChat extends Chat {
  /** Starts the next turn that waited, when the agent is idle. */
  flush(): void
  /** Nothing is sent any more. */
  close(): void
}

/**
 * Pushes as custom messages. A turn never starts while the agent runs: it waits here and not in pi's
 * queue, which an interrupted run would empty.
 */
export function createChat(pi: ExtensionAPI, ctx: ExtensionContext): SessionChat {
  const waiting: ChatMessage[] = []
  let closed = false

  const send = ({ text, traceId, server, method }: ChatMessage, triggerTurn: boolean): void => {
    pi.sendMessage({ customType: PUSH_MESSAGE, content: text, display: true, details: { traceId, server, method } }, { triggerTurn })
  }
  const flush = (): void => {
    if (closed || !ctx.isIdle()) return
    const next = waiting.shift()
    if (next) send(next, true)
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
    },
  }
}
