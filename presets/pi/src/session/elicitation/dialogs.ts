import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { openBrowser } from '@tapline/headless'
import { UNRELAYED } from '../approvals.ts'
import { inputIn, selectIn } from '../dialogs/dialog.ts'
import { tickOff } from './ticking.ts'
import { LATER } from './words.ts'

/** pi's dialogs, for one question. Each answers undefined when it is left, and when the question is over. */
export interface Dialogs {
  /** Which of these was chosen, by its place. `also` closes it too. */
  select(
    lines: readonly string[],
    options: readonly string[],
    also?: AbortSignal,
  ): Promise<number | undefined>
  /** Which of these are ticked in the end, by their places; absent where there is no list that could be ticked. */
  tick?(
    lines: readonly string[],
    options: readonly string[],
    ticked: ReadonlySet<number>,
  ): Promise<ReadonlySet<number> | undefined>
  input(lines: readonly string[], placeholder: string): Promise<string | undefined>
  /** Says something, as long as there is a session. */
  tell(text: string): void
  /** A part of a title that stands out, where titles have colours. */
  mark(text: string): string
  /** Opens an address in a browser; answers whether that seems to have worked. */
  open(address: string): Promise<boolean>
}

/** `over` aborts when the answer is no longer wanted. */
export function createDialogs(ctx: ExtensionContext, over: AbortSignal): Dialogs {
  const { ui, mode } = ctx
  const isDrawn = mode === 'tui'
  return {
    ...(isDrawn ? { tick: (...asked) => tickOff(ctx, ...asked, over) } : {}),
    select: async (lines, options, also) => {
      const how = { ...UNRELAYED, signal: also ? AbortSignal.any([over, also]) : over }
      const place = await selectIn(ctx, { lines, leave: LATER }, options, how)
      return over.aborted ? undefined : place
    },
    input: async (lines, placeholder) => {
      const how = { ...UNRELAYED, signal: over }
      const text = await inputIn(ctx, { lines, leave: LATER }, placeholder, how)
      return over.aborted ? undefined : text
    },
    tell: (text) => {
      try {
        ui.notify(text, 'info')
      } catch {
        // The session has ended.
      }
    },
    mark: (text) => (isDrawn ? ui.theme.inverse(text) : text),
    open: (address) => openBrowser(address, process.env),
  }
}
