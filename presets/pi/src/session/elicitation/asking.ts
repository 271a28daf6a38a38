import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { ElicitationAnswer, ElicitationQuestion } from '@tapline/core'
import { askForAddress } from './address.ts'
import { createDialogs, type Dialogs } from './dialogs.ts'
import { askWithForm } from './form.ts'
import { Turns } from './turns.ts'

/** So many questions of one server wait, the one that is shown among them; and so many of all. Calls run side by side. */
const MOST_OF_ONE = 10
const MOST_IN_ALL = 30
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

/** Nobody reads in less, in milliseconds; what is taken back so soon was not meant to be answered. */
const SHORTEST_LOOK_MS = 2_000
/** So many of those in a minute, and there are no more in it. */
const MOST_GLIMPSES = 5
const MINUTE_MS = 60_000

interface Standing {
  waiting: number
  refusals: number
  warned: boolean
  silenced: boolean
  /** When questions were taken back as soon as they were shown. */
  glimpses: readonly number[]
}

/** `ended` aborts when the session ends: what waits then is cancelled. */
export function createAsking(ctx: ExtensionContext, ended: AbortSignal): Asking {
  const standings = new Map<string, Standing>()
  const turns = new Turns()
  let waiting = 0

  const standingOf = (server: string): Standing => {
    const known = standings.get(server)
    const standing = known ?? { waiting: 0, refusals: 0, warned: false, silenced: false, glimpses: [] }
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
    const shownAt = performance.now()
    if (lately(standing.glimpses, shownAt).length >= MOST_GLIMPSES) return CANCEL
    const dialogs = createDialogs(ctx, AbortSignal.any([signal, ended]))
    const reply = await put(dialogs, { server, offersNever: standing.refusals >= REFUSALS }, question)
    if (ended.aborted) return CANCEL
    if (signal.aborted) {
      dialogs.tell(`What the MCP server "${server}" asked is no longer wanted.`)
      if (performance.now() - shownAt > SHORTEST_LOOK_MS) return CANCEL
      standing.glimpses = [...lately(standing.glimpses, shownAt), shownAt]
      if (standing.glimpses.length >= MOST_GLIMPSES)
        dialogs.tell(
          `The MCP server "${server}" asks and takes it back at once, again and again. It is not heard for a minute.`,
        )
      return CANCEL
    }
    standing.refusals = reply.action === 'accept' ? 0 : standing.refusals + 1
    if (reply.action !== 'never') return reply
    standing.silenced = true
    return DECLINE
  }

  const warn = (server: string, standing: Standing): void => {
    if (standing.warned) return
    standing.warned = true
    ctx.ui.notify(
      standing.waiting >= MOST_OF_ONE
        ? `The MCP server "${server}" asks too much at a time: ${standing.waiting} of its questions wait for you. Further ones are cancelled.`
        : `${waiting} questions of MCP servers wait for you. What "${server}" asks now is cancelled.`,
      'warning',
    )
  }

  return {
    ask: async (server, question, signal) => {
      const standing = standingOf(server)
      if (standing.silenced) return DECLINE
      if (ended.aborted) return CANCEL
      if (standing.waiting >= MOST_OF_ONE || waiting >= MOST_IN_ALL) {
        warn(server, standing)
        return CANCEL
      }
      standing.waiting++
      waiting++
      try {
        return (await turns.take(signal, () => show(server, question, signal))) ?? CANCEL
      } finally {
        standing.waiting--
        waiting--
      }
    },
  }
}

function lately(moments: readonly number[], now: number): readonly number[] {
  return moments.filter((moment) => now - moment < MINUTE_MS)
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
