import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { ElicitationAnswer } from '@tapline/core'
import { questionOf } from '../../../../../core/src/session/elicitation/question.ts'
import type { ApprovalOptions } from '../../../src/session/approvals.ts'
import { createAsking } from '../../../src/session/elicitation/asking.ts'

/** A dialog of pi as it was shown. */
export interface Shown {
  readonly title: string
  /** What a list offers; undefined of a line to be typed. */
  readonly options: readonly string[] | undefined
}

/** What a person does with a dialog: a text that is or begins an option, or is typed; undefined is Escape, `wait` nothing. */
export type Answer = (shown: Shown) => string | undefined

/** A person at pi's dialogs, who answers them in turn; a dialog too many is left with Escape. */
export function person(...answers: readonly (Answer | string | undefined)[]) {
  const shown: Shown[] = []
  const notices: string[] = []
  const relays: unknown[] = []
  const waiting = [...answers]
  const show = (dialog: Shown, options: ApprovalOptions = {}): Promise<string | undefined> => {
    shown.push(dialog)
    relays.push(options.relay)
    const next = waiting.shift()
    const answer = typeof next === 'function' ? next(dialog) : next
    const offered = dialog.options ?? []
    const found =
      offered.find((option) => option === answer) ??
      offered.find((option) => answer !== undefined && option.startsWith(answer))
    return new Promise((resolve) => {
      options.signal?.addEventListener('abort', () => resolve(undefined))
      if (answer !== 'wait') resolve(dialog.options ? found : answer)
    })
  }
  const ui = {
    select: (title: string, options: string[], how?: ApprovalOptions) => show({ title, options }, how),
    input: (title: string, _hint: string, how?: ApprovalOptions) => show({ title, options: undefined }, how),
    notify: (text: string) => void notices.push(text),
  }
  const ended = new AbortController()
  const asking = createAsking({ ui, mode: 'rpc' } as unknown as ExtensionContext, ended.signal)
  return {
    shown,
    notices,
    relays,
    end: () => ended.abort(),
    /** Has a server ask; `signal` takes the question back. */
    ask: (
      params: object,
      {
        server = 'docs',
        signal = new AbortController().signal,
        waits = false,
        done = new AbortController().signal,
      } = {},
    ): Promise<ElicitationAnswer> => asking.ask(server, questionOf(params, { waits, done }), signal),
  }
}

/** The params of a form with these fields. */
export function form(properties: object, required: readonly string[] = [], message = 'Tell me.'): object {
  return { message, requestedSchema: { type: 'object', properties, required } }
}
