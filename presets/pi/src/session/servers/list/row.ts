import { columnsOf, fit, pad } from '../../screen/columns.ts'
import type { Line, Span } from '../../screen/line.ts'
import type { Standing } from '../standing.ts'

/** A server as one row shows it. */
export interface ServerRow {
  readonly name: string
  readonly standing: Standing
  readonly exposure: string
  readonly source: string
  readonly era: string
  /** How many pushes came, and whether one came just now or went wrong. */
  readonly pushes: { readonly text: string; readonly news: 'none' | 'fresh' | 'trouble' }
}

/** Draws rows whose columns stand below each other. */
export interface Table {
  readonly head: Line
  row(row: ServerRow, isSelected: boolean): Line
}

const GAP = 2
/** Pointer, mark, and a blank after each. */
const BEFORE = 5
const LONGEST_NAME = 28
const LONGEST_STANDING = 72
/** What is shown of a standing before other columns give way: `connected · 14 tools`. */
const LEAST_STANDING = 20
const LEAST_NAME = 8

const TITLES = { exposure: 'exposure', source: 'source', era: 'era', pushes: 'pushes' } as const
type Column = keyof typeof TITLES
/** The first gives way first. */
const DISPENSABLE: readonly Column[] = ['era', 'source', 'pushes', 'exposure']

/** The columns for these rows in a terminal of this width. */
export function tableFor(rows: readonly ServerRow[], width: number): Table {
  const cells = (column: Column): readonly string[] =>
    rows.map((row) => (column === 'pushes' ? row.pushes.text : row[column]))
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(columnsOf))
  const natural = (column: Column): number => {
    const own = widest(cells(column))
    return own === 0 ? 0 : Math.max(own, TITLES[column].length)
  }
  let columns = (Object.keys(TITLES) as Column[]).filter((column) => natural(column) > 0)
  const names = Math.min(LONGEST_NAME, Math.max(6, widest(rows.map(({ name }) => name))))
  const standings = Math.min(LONGEST_STANDING, Math.max(5, widest(rows.map((row) => row.standing.text))))
  const others = (): number => columns.reduce((sum, column) => sum + natural(column) + GAP, 0)
  for (const column of DISPENSABLE) {
    if (BEFORE + names + GAP + Math.min(standings, LEAST_STANDING) + others() <= width) break
    columns = columns.filter((kept) => kept !== column)
  }
  const nameWidth = Math.max(
    Math.min(LEAST_NAME, names),
    Math.min(names, width - BEFORE - GAP - LEAST_STANDING),
  )
  const room = width - BEFORE - nameWidth - GAP - others()
  const standingWidth = columns.length === 0 ? Math.max(0, room) : Math.min(standings, room)
  const gap = ' '.repeat(GAP)
  const cell = (text: string, columnWidth: number): string => pad(fit(text, columnWidth), columnWidth)
  const further = (text: string, column: Column): string => gap + cell(text, natural(column))
  return {
    head: [
      {
        color: 'dim',
        text: [
          ' '.repeat(BEFORE),
          cell('server', nameWidth),
          gap,
          cell('state', standingWidth),
          ...columns.map((column) => further(TITLES[column], column)),
        ].join(''),
      },
    ],
    row: (row, isSelected) => [
      { color: 'accent', text: isSelected ? ' › ' : '   ' },
      { color: row.standing.color, text: `${row.standing.mark} ` },
      { color: isSelected ? 'accent' : 'text', text: cell(row.name, nameWidth), bold: isSelected },
      { color: toneOf(row), text: gap + cell(row.standing.text, standingWidth) },
      ...columns.map((column): Span =>
        column === 'pushes'
          ? { color: NEWS[row.pushes.news], text: further(row.pushes.text, column) }
          : { color: 'muted', text: further(row[column], column) },
      ),
    ],
  }
}

const NEWS = { none: 'muted', fresh: 'accent', trouble: 'warning' } as const

/** What is as it should be need not stand out. */
function toneOf({ standing }: ServerRow): Span['color'] {
  return standing.color === 'success' ? 'muted' : standing.color
}
