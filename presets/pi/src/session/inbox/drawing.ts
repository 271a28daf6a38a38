import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { InboxEntry, InboxView } from '@tapline/inbox-sink'
import { columnsOf, fit, pad, wrap } from './columns.ts'
import { countText, idOf, markOf, originOf, placeOf, textOf, titleOf } from './text.ts'

/** What the panel shows. */
export interface PanelState {
  readonly all: boolean
  readonly view: InboxView
  /** Index of the selected entry. */
  readonly selected: number
  /** How many entries a page has; drawing sets it. */
  page: number
  /** What was done last, what is asked, or what went wrong. */
  readonly note: string | undefined
}

type Theme = ExtensionContext['ui']['theme']

/** Rows of the terminal that the list leaves to the rest of the panel and to what is above it. */
const ROWS_FOR_OTHERS = 18
const MOST_ROWS = 10
const LEAST_ROWS = 3
const DETAIL_ROWS = 4
const ORIGIN_COLUMNS = 24
/** Below this width, the origin is shown of the selected entry alone. */
const ROOM_FOR_ORIGIN = 56
/** Below this width, nobody can read anything: an entry is its text. */
const ROOM_FOR_MARKS = 12

/** The panel's lines; none is wider than `width`. */
export function drawPanel(state: PanelState, theme: Theme, width: number, rows: number): string[] {
  const { all, view, selected, note } = state
  const { listed, elsewhere } = view
  state.page = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, rows - ROWS_FOR_OTHERS))
  const before = Math.max(0, Math.min(selected - Math.floor(state.page / 2), listed.length - state.page))
  const shown = listed.slice(before, before + state.page)
  const chosen = listed[selected]
  const line = (color: Parameters<Theme['fg']>[0], text: string): string => theme.fg(color, fit(text, width))
  const range = `   ${before + 1} to ${before + shown.length} of ${listed.length}`
  return [
    line('borderMuted', '─'.repeat(Math.max(0, width))),
    theme.bold(line('accent', ` ${titleOf(all)}: ${countText(listed)}`)),
    ...shown.map((entry, index) => entryLine(entry, before + index === selected, theme, width)),
    ...(shown.length < listed.length ? [line('dim', range)] : []),
    '',
    ...(chosen ? wrap(textOf(chosen), width - 2, DETAIL_ROWS).map((text) => line('text', ` ${text}`)) : []),
    ...(chosen ? [line('muted', ` ${factsOf(chosen)}`), ''] : []),
    ...(note === undefined ? [] : [line('warning', ` ${note}`)]),
    ...wrap(hintsFor(listed.length > 0, all), width - 2, 3).map((text) => line('dim', ` ${text}`)),
    ...(elsewhere === 0 ? [] : [line('dim', ` + ${elsewhere} new in other projects`)]),
  ]
}

function entryLine(entry: InboxEntry, isSelected: boolean, theme: Theme, width: number): string {
  if (width < ROOM_FOR_MARKS) return theme.fg(isSelected ? 'accent' : 'text', fit(textOf(entry), width))
  const pointer = isSelected ? ' › ' : '   '
  const mark = markOf(entry)
  const origin = width < ROOM_FOR_ORIGIN ? '' : `  ${fit(originOf(entry), ORIGIN_COLUMNS)}`
  const room = width - columnsOf(pointer) - columnsOf(mark) - columnsOf(origin)
  const text = pad(fit(textOf(entry), room), room)
  return [
    theme.fg('accent', pointer),
    theme.fg('warning', mark),
    theme.fg(isSelected ? 'accent' : 'text', text),
    theme.fg('dim', origin),
  ].join('')
}

function factsOf(entry: InboxEntry): string {
  const place = entry.cwd === '' ? [] : [placeOf(entry)]
  return [originOf(entry), ...place, idOf(entry)].join(' · ')
}

function hintsFor(some: boolean, all: boolean): string {
  const scope = `tab ${all ? 'this project' : 'every project'} · esc close`
  return some ? `↑↓ move · enter claim · d dismiss · c clear · ${scope}` : scope
}
