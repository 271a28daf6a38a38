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
type Color = Parameters<Theme['fg']>[0]
type Line = readonly [Color, string]

/** What is above the panel and below it: a line of the chat, and pi's footer. */
const ROWS_OF_PI = 5
const MOST_ROWS = 10
/** What is below the list gives way to so many findings. */
const LEAST_ROWS = 3
const DETAIL_ROWS = 4
const HINT_ROWS = 3
const ORIGIN_COLUMNS = 24
/** Below this width, the origin is shown of the selected entry alone. */
const ROOM_FOR_ORIGIN = 56
/** Below this width, nobody can read anything: an entry is its text. */
const ROOM_FOR_MARKS = 12

/** The panel's lines: none is wider than `width`, and they fit into a terminal of `rows`. */
export function drawPanel(state: PanelState, theme: Theme, width: number, rows: number): string[] {
  const { all, view, selected, note } = state
  const { listed } = view
  const line = (color: Color, text: string): string => theme.fg(color, fit(text, width))
  const head = [
    line('borderMuted', '─'.repeat(Math.max(0, width))),
    theme.bold(line('accent', ` ${titleOf(all)}: ${countText(listed)}`)),
    ...(note === undefined ? [] : [line('warning', ` ${note}`)]),
  ]
  // One for what says which part of the list is shown.
  const room = rows - ROWS_OF_PI - head.length - 1
  const foot = feet(state, width).find((lines) => room - lines.length >= LEAST_ROWS) ?? []
  state.page = Math.min(MOST_ROWS, Math.max(1, room - foot.length))
  const before = Math.max(0, Math.min(selected - Math.floor(state.page / 2), listed.length - state.page))
  const shown = listed.slice(before, before + state.page)
  return [
    ...head,
    ...shown.map((entry, index) => entryLine(entry, before + index === selected, theme, width)),
    ...(shown.length < listed.length
      ? [line('dim', `   ${before + 1} to ${before + shown.length} of ${listed.length}`)]
      : []),
    ...foot.map(([color, text]) => line(color, text)),
  ]
}

/** What may stand below the list, from all of it down to the keys alone. */
function feet({ all, view, selected }: PanelState, width: number): readonly Line[][] {
  const { listed, elsewhere } = view
  const chosen = listed[selected]
  const said = (most: number): Line[] =>
    chosen ? wrap(textOf(chosen), width - 2, most).map((text): Line => ['text', ` ${text}`]) : []
  const facts: Line[] = chosen ? [['muted', ` ${factsOf(chosen)}`]] : []
  const keys = (most: number): Line[] =>
    wrap(hintsFor(listed.length > 0, all), width - 2, most).map((text): Line => ['dim', ` ${text}`])
  const others: Line[] = elsewhere === 0 ? [] : [['dim', ` + ${elsewhere} new in other projects`]]
  const blank: Line = ['text', '']
  return [
    [blank, ...said(DETAIL_ROWS), ...facts, ...(chosen ? [blank] : []), ...keys(HINT_ROWS), ...others],
    [blank, ...said(2), ...facts, ...keys(1)],
    [...said(1), ...keys(1)],
    keys(1),
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
