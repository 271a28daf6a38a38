import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { openBrowser } from '@tapline/headless'
import { type ApprovalOptions, UNRELAYED } from '../approvals.ts'
import { optionsIn, pagesOf, roomNow } from './pages.ts'
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
  const fitting = isDrawn ? inTerminal(ctx) : WHOLE
  return {
    ...(isDrawn ? { tick: (...asked) => tickOff(ctx, ...asked, over) } : {}),
    select: async (lines, options, also) => {
      const how = { ...UNRELAYED, signal: also ? AbortSignal.any([over, also]) : over }
      const rows = fitting.options(options)
      const title = await fitting.read(lines, rows, how)
      const chosen = title === undefined ? undefined : await ui.select(title, rows, how)
      const place = rows.indexOf(chosen ?? '')
      return place < 0 || over.aborted ? undefined : place
    },
    input: async (lines, placeholder) => {
      const how = { ...UNRELAYED, signal: over }
      const title = await fitting.read(lines, [], how)
      const text = title === undefined ? undefined : await ui.input(title, placeholder, how)
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

/** How what a dialog shows is fitted into its place. */
interface Fitting {
  /** What stands above these options; undefined when the person has left what is read before. */
  read(
    lines: readonly string[],
    options: readonly string[],
    how: ApprovalOptions,
  ): Promise<string | undefined>
  options(options: readonly string[]): string[]
}

/** Where others draw it. */
const WHOLE: Fitting = {
  read: async (lines) => lines.join('\n'),
  options: (options) => [...options],
}

const READ_ON = 'Read on'

/** In a terminal: what does not fit is read page by page first. */
function inTerminal({ ui }: Pick<ExtensionContext, 'ui'>): Fitting {
  return {
    read: async (lines, options, how) => {
      const pages = pagesOf(lines, options, roomNow())
      for (const page of pages.slice(0, -1))
        if ((await ui.select(page.join('\n'), [READ_ON, LATER], how)) !== READ_ON) return undefined
      return pages.at(-1)?.join('\n')
    },
    options: (options) => [...optionsIn(options, roomNow())],
  }
}
