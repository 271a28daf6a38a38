import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { ElicitationAnswer, ElicitationQuestion } from '@tapline/core'
import { askForAddress } from './address.ts'
import { createDialogs, type Dialogs } from './dialogs.ts'
import { askWithForm } from './form.ts'

/** So many questions of one server wait, the one that is shown among them; and so many of all. */
const MOST_OF_ONE = 3
const MOST_IN_ALL = 10
/** After so many refusals in a row, one word ends all further questions. */
const REFUSALS = 2

/** What a person said to a question; `never` declines it and all that the server asks later in this session. */
export type Reply = ElicitationAnswer | { readonly action: 'never' }

/** One question, as it is put to the person. */
export interface Asked<Question> {
  readonly server: string
  readonly question: Question
  /** Whether the person may want to hear no more of this server. */
  readonly offersNever: boolean
}

/** Asks what servers want to know, one question after the other. */
export interface Asking {
  /** `signal` aborts when the answer is no longer wanted. */
  ask(server: string, question: ElicitationQuestion, signal: AbortSignal): Promise<ElicitationAnswer>
}

interface Standing {
  waiting: number
  refusals: number
  warned: boolean
  silenced: boolean
}

/** `ended` aborts when the session ends: what waits then is cancelled. */
export function createAsking(ctx: ExtensionContext, ended: AbortSignal): Asking {
  const standings = new Map<string, Standing>()
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  const standingOf = (server: string): Standing => {
    const known = standings.get(server)
    const standing = known ?? { waiting: 0, refusals: 0, warned: false, silenced: false }
    if (!known) standings.set(server, standing)
    return standing
  }

  const show = async (
    server: string,
    question: ElicitationQuestion,
    signal: AbortSignal,
  ): Promise<ElicitationAnswer> => {
    const standing = standingOf(server)
    if (signal.aborted || ended.aborted) return CANCEL
    if (standing.silenced) return DECLINE
    const dialogs = createDialogs(ctx, AbortSignal.any([signal, ended]))
    const reply = await put(dialogs, { server, offersNever: standing.refusals >= REFUSALS }, question)
    if (signal.aborted || ended.aborted) {
      if (!ended.aborted) dialogs.tell(`What the MCP server "${server}" asked is no longer wanted.`)
      return CANCEL
    }
    standing.refusals = reply.action === 'accept' ? 0 : standing.refusals + 1
    if (reply.action !== 'never') return reply
    standing.silenced = true
    return DECLINE
  }

  return {
    ask: async (server, question, signal) => {
      const standing = standingOf(server)
      if (standing.silenced) return DECLINE
      if (ended.aborted) return CANCEL
      if (standing.waiting >= MOST_OF_ONE || waiting >= MOST_IN_ALL) {
        if (!standing.warned)
          ctx.ui.notify(
            `The MCP server "${server}" asks too much at a time: ${standing.waiting} of its questions wait for you. Further ones are cancelled.`,
            'warning',
          )
        standing.warned = true
        return CANCEL
      }
      standing.waiting++
      waiting++
      const shown = last.then(() => show(server, question, signal))
      last = shown.catch(() => undefined)
      try {
        return await shown
      } finally {
        standing.waiting--
        waiting--
      }
    },
  }
}

function put(
  dialogs: Dialogs,
  asked: Omit<Asked<never>, 'question'>,
  question: ElicitationQuestion,
): Promise<Reply> {
  return question.mode === 'form'
    ? askWithForm(dialogs, { ...asked, question })
    : askForAddress(dialogs, { ...asked, question })
}

const CANCEL = { action: 'cancel' } as const
const DECLINE = { action: 'decline' } as const
