import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { ApprovalOptions } from '../approvals.ts'
import { item } from './marks.ts'
import { optionsIn, pagesOf, roomNow } from './pages.ts'

type Context = Pick<ExtensionContext, 'ui' | 'mode'>

/** What a dialog says before it is answered. */
export interface Said {
  /** Those of others are marked; see `theirs` and `item`. The first of our own names the question on every page. */
  readonly lines: readonly string[]
  /** What is offered beside reading on, where not all of it fits into the terminal: it leaves the question. */
  readonly leave: string
}

/**
 * pi's list of options. Answers the place of the one that was chosen; undefined when the question was left. pi cuts
 * off what is below the edge of a terminal, so there all is read first, page by page; other clients get it whole.
 */
export async function selectIn(
  { ui, mode }: Context,
  { lines, leave }: Said,
  options: readonly string[],
  how: ApprovalOptions,
): Promise<number | undefined> {
  const isDrawn = mode === 'tui'
  const rows = isDrawn ? [...optionsIn(options, roomNow())] : [...options]
  const title = isDrawn ? await lastPage(ui, { lines, leave }, rows, how) : lines.join('\n')
  const chosen = title === undefined ? undefined : await ui.select(title, rows, how)
  const place = rows.indexOf(chosen ?? '')
  return place < 0 ? undefined : place
}

/** pi's field for a text, in the same way. */
export async function inputIn(
  { ui, mode }: Context,
  { lines, leave }: Said,
  placeholder: string | undefined,
  how: ApprovalOptions,
): Promise<string | undefined> {
  const title = mode === 'tui' ? await lastPage(ui, { lines, leave }, [], how) : lines.join('\n')
  return title === undefined ? undefined : ui.input(title, placeholder, how)
}

const NO = 'No'
const YES = 'Yes'

/** pi's question for a yes or a no, `message` a list of things. In a terminal, the no comes first. */
export async function confirmIn(
  { ui, mode }: Context,
  title: string,
  message: string,
  how: ApprovalOptions,
): Promise<boolean> {
  if (mode !== 'tui') return ui.confirm(title, message, how)
  const said = { lines: [title, ...message.split('\n').map(item)], leave: NO }
  return (await selectIn({ ui, mode }, said, [NO, YES], how)) === 1
}

const READ_ON = 'Read on'

/** What stands above the options in the end; undefined when the person has left what is read before. */
async function lastPage(
  ui: Context['ui'],
  { lines, leave }: Said,
  options: readonly string[],
  how: ApprovalOptions,
): Promise<string | undefined> {
  const room = roomNow()
  const pages = pagesOf(lines, options, room)
  const offered = [...optionsIn([READ_ON, leave], room)]
  for (const page of pages.slice(0, -1))
    if ((await ui.select(page.join('\n'), offered, how)) !== offered[0]) return undefined
  return pages.at(-1)?.join('\n')
}
