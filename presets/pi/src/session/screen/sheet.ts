import { type Line, line, paint, type Theme } from './line.ts'

/** What is above a screen and below it: a line of the chat, and pi's footer. */
const ROWS_OF_PI = 5
/** What is below the rows gives way to so many of them, and where that cannot be, at least to so few. */
const GOOD_ROWS = 6
const FEW_ROWS = 3
const LEAST_ROWS = 2
/** Where there is room for it, a line ends the screen as one begins it. */
const ROOM_FOR_END = 20
/** A title, and what was said last. */
const LEAST_HEAD = 2

/** Rows that are drawn when they are in sight. */
export interface Rows {
  readonly count: number
  line(index: number): Line
}

/** What a screen shows in the place of the editor. */
export interface Sheet {
  /** Its title, and what stands below that. */
  readonly head: readonly Line[]
  readonly rows: Rows
  /** The row that stays in sight; with `top`, the first one shown. */
  readonly at: { readonly selected: number } | { readonly top: number }
  /** Shown at a time, whatever the terminal has room for. */
  readonly mostRows: number
  /** So many of them matter more than what stands below them; 6 when absent. */
  readonly goodRows?: number
  /** What may stand below the rows, from all of it down to the least. */
  readonly feet: readonly (readonly Line[])[]
}

/** A screen as it is drawn. */
export interface Drawn {
  /** None is wider than asked, and they fit into the terminal. */
  readonly lines: readonly string[]
  /** How many rows there was room for. */
  readonly page: number
}

/** Draws a screen for a terminal of `height` rows: what matters least is left out where it is low. */
export function drawSheet(sheet: Sheet, theme: Theme, width: number, height: number): Drawn {
  const { rows, at, mostRows, goodRows = GOOD_ROWS } = sheet
  const border = line('borderMuted', '─'.repeat(Math.max(0, width)))
  const end = height < ROOM_FOR_END ? [] : [border]
  const space = height - ROWS_OF_PI - 1 - end.length
  const head = sheet.head.slice(0, Math.max(LEAST_HEAD, space - FEW_ROWS - 1))
  // One for what says which part is shown.
  const room = space - head.length - 1
  const footFor = (wanted: number): readonly Line[] | undefined =>
    sheet.feet.find((lines) => room - lines.length >= Math.min(wanted, rows.count))
  const foot = footFor(goodRows) ?? footFor(FEW_ROWS) ?? footFor(LEAST_ROWS) ?? []
  const page = Math.min(mostRows, Math.max(1, room - foot.length))
  const wanted = 'top' in at ? at.top : at.selected - Math.floor(page / 2)
  const before = Math.max(0, Math.min(wanted, rows.count - page))
  const shown = Math.min(page, rows.count - before)
  const part = line('dim', `   ${before + 1} to ${before + shown} of ${rows.count}`)
  const lines = [
    border,
    ...head,
    ...Array.from({ length: shown }, (_, index) => rows.line(before + index)),
    ...(shown < rows.count ? [part] : []),
    ...foot,
    ...end,
  ]
  return { lines: lines.map((spans) => paint(spans, theme, width)), page }
}
