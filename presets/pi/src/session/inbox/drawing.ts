import type { InboxEntry, InboxView } from '@tapline/inbox-sink'
import { columnsOf, fit, pad, wrap } from '../screen/columns.ts'
import { BLANK, type Line, line, type Theme } from '../screen/line.ts'
import { drawSheet } from '../screen/sheet.ts'
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

const MOST_ROWS = 10
const DETAIL_ROWS = 4
const HINT_ROWS = 3
const ORIGIN_COLUMNS = 24
/** Below this width, the origin is shown of the selected entry alone. */
const ROOM_FOR_ORIGIN = 56
/** Below this width, nobody can read anything: an entry is its text. */
const ROOM_FOR_MARKS = 12

/** The panel's lines: none is wider than `width`, and they fit into a terminal of `rows`. */
export function drawPanel(state: PanelState, theme: Theme, width: number, rows: number): readonly string[] {
  const { all, view, selected, note } = state
  const { listed } = view
  const { lines, page } = drawSheet(
    {
      head: [
        [{ color: 'accent', text: ` ${titleOf(all)}: ${countText(listed)}`, bold: true }],
        ...(note === undefined ? [] : [line('warning', ` ${note}`)]),
      ],
      rows: { count: listed.length, line: (index) => entryLine(listed[index]!, index === selected, width) },
      at: { selected },
      mostRows: MOST_ROWS,
      feet: feet(state, width),
    },
    theme,
    width,
    rows,
  )
  state.page = page
  return lines
}

/** What may stand below the list, from all of it down to the keys alone. */
function feet({ all, view, selected }: PanelState, width: number): readonly (readonly Line[])[] {
  const { listed, elsewhere } = view
  const chosen = listed[selected]
  const said = (most: number): readonly Line[] =>
    chosen ? wrap(textOf(chosen), width - 2, most).map((text) => line('text', ` ${text}`)) : []
  const facts = chosen ? [line('muted', ` ${factsOf(chosen)}`)] : []
  const keys = (most: number): readonly Line[] =>
    wrap(hintsFor(listed.length > 0, all), width - 2, most).map((text) => line('dim', ` ${text}`))
  const others = elsewhere === 0 ? [] : [line('dim', ` + ${elsewhere} new in other projects`)]
  return [
    [BLANK, ...said(DETAIL_ROWS), ...facts, ...(chosen ? [BLANK] : []), ...keys(HINT_ROWS), ...others],
    [BLANK, ...said(2), ...facts, ...keys(1)],
    [...said(1), ...keys(1)],
    keys(1),
  ]
}

function entryLine(entry: InboxEntry, isSelected: boolean, width: number): Line {
  if (width < ROOM_FOR_MARKS) return line(isSelected ? 'accent' : 'text', textOf(entry))
  const pointer = isSelected ? ' › ' : '   '
  const mark = markOf(entry)
  const origin = width < ROOM_FOR_ORIGIN ? '' : `  ${fit(originOf(entry), ORIGIN_COLUMNS)}`
  const room = width - columnsOf(pointer) - columnsOf(mark) - columnsOf(origin)
  return [
    { color: 'accent', text: pointer },
    { color: 'warning', text: mark },
    { color: isSelected ? 'accent' : 'text', text: pad(fit(textOf(entry), room), room) },
    { color: 'dim', text: origin },
  ]
}

function factsOf(entry: InboxEntry): string {
  const place = entry.cwd === '' ? [] : [placeOf(entry)]
  return [originOf(entry), ...place, idOf(entry)].join(' · ')
}

function hintsFor(some: boolean, all: boolean): string {
  const scope = `tab ${all ? 'this project' : 'every project'} · esc close`
  return some ? `↑↓ move · enter claim · d dismiss · c clear · ${scope}` : scope
}
