import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Chat, ChatMessage, Plugin } from '@tapline/core'
import { type Budget, countSpending, refusal } from './spending.ts'
import { eventOf } from './turns/journal-file.ts'
import { noJournal } from './turns/journal.ts'
import { takeTurn } from './turns/shared-turn.ts'
import { turnsPlugin } from './turns/takeover.ts'

/** The custom type of every message that a push becomes. */
const PUSH_MESSAGE = 'tapline:push'

/** pi says when a run has settled, but not when a compaction has: while a turn waits, it looks again by itself. */
const LOOK_AGAIN_MS = 250

/** More turns do not wait: a model that takes its time would never come to the end of them. */
const MOST_WAITING = 200

/** The chat of one pi session. */
export interface SessionChat extends Chat {
  /** Puts into the inbox what waits here, should this process be killed, and what waited in others that were. */
  readonly plugin: Plugin
  /** Starts the next turn that waited, when the agent is idle. */
  flush(): void
  /** The session ends: turns that wait, and what still comes, are only shown, so that the transcript has them. */
  end(): void
  /** Nothing is sent any more. */
  close(): void
}

/**
 * Pushes as custom messages. What turns cost counts towards the day's budget: when that is spent, no turn is taken on,
 * and one that waited is only shown. A turn never starts while the agent runs: it waits here and not in pi's
 * queue, which an interrupted run would empty.
 */
export function createChat(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  budget: () => Budget | undefined = () => undefined,
): SessionChat {
  const spending = countSpending(pi, budget)
  const waiting: ChatMessage[] = []
  /** What the turn is about that runs now. */
  let having: readonly ChatMessage[] = []
  let journal = noJournal
  let timer: NodeJS.Timeout | undefined
  let ending = false
  let closed = false

  const send = ({ text, traceId, server, method }: ChatMessage, triggerTurn: boolean): void => {
    pi.sendMessage(
      { customType: PUSH_MESSAGE, content: text, display: true, details: { traceId, server, method } },
      { triggerTurn },
    )
  }
  /** What another window has put into the inbox has no turn here. */
  const giveUpTaken = (): void => {
    const taken = journal.takenOver()
    const isTaken = (message: ChatMessage): boolean => taken.has(eventOf(message).traceId)
    if (taken.size === 0 || ![...having, ...waiting].some(isTaken)) return
    const left = waiting.filter((message) => !isTaken(message))
    const count = waiting.length - left.length
    waiting.splice(0, waiting.length, ...left)
    // The turn goes on.
    having = having.filter((message) => !isTaken(message))
    const what = count === 0 ? 'What this turn is about is' : `${count} that waited for a turn are`
    ctx.ui.notify(`${what} in the inbox: this window had stood still.`, 'warning')
  }
  const flush = (): void => {
    clearTimeout(timer)
    if (ending) return
    const idle = ctx.isIdle()
    if (idle) spending.end()
    if (idle) having = []
    giveUpTaken()
    const before = [...waiting]
    const next = idle ? takeTurn(waiting) : undefined
    const refused = next?.asked === true ? undefined : refusal(budget())
    if (next && refused !== undefined) {
      send(next, false)
      ctx.ui.notify(`${refused}: an event that waited for a turn is only shown`, 'warning')
    } else if (next) {
      if (next.asked !== true) spending.begin()
      having = before.filter((message) => !waiting.includes(message))
      // On the disk before it begins, and until it has ended.
      journal.keep(before)
      send(next, true)
    }
    journal.keep([...having, ...waiting])
    if (waiting.length > 0) timer = setTimeout(flush, LOOK_AGAIN_MS).unref()
  }
  const refuseWhenClosed = (): void => {
    if (closed) throw new Error('The session has ended.')
  }
  return {
    plugin: turnsPlugin((opened) => {
      giveUpTaken()
      journal = opened
      journal.keep([...having, ...waiting])
    }),
    show: (message) => {
      refuseWhenClosed()
      send(message, false)
    },
    run: (message) => {
      refuseWhenClosed()
      if (ending) return send(message, false)
      const refused = message.asked === true ? undefined : refusal(budget())
      if (refused !== undefined) throw new Error(refused)
      if (waiting.length >= MOST_WAITING && message.asked !== true)
        throw new Error(`${MOST_WAITING} turns wait already`)
      waiting.push(message)
      flush()
    },
    flush,
    end: () => {
      giveUpTaken()
      ending = true
      clearTimeout(timer)
      for (const message of waiting.splice(0)) send(message, false)
      journal.keep([])
    },
    close: () => {
      closed = true
      spending.close()
    },
  }
}
