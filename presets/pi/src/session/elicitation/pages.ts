import { pieces, wrap } from '../screen/columns.ts'
import { inColumns } from './words.ts'

/** What pi draws around a dialog, its footer, and a line to spare. */
const ROWS_AROUND = 11
/** So many options pi shows at a time, and below them which part that is. */
const OPTIONS_IN_SIGHT = 10
/** However low a terminal is. */
const LEAST_ROWS = 3
/** What is read before offers to go on, or not. */
const OPTIONS_OF_PAGE = 2
const MOST_ROWS_OF_OPTION = 8
/** The arrow before an option and what stands in its place, one column on either side, and what its later lines hang by. */
const COLUMNS_BEFORE_OPTION = 8
/** However narrow a terminal is. */
const LEAST_COLUMNS = 16
/** Colours. */
// oxlint-disable-next-line no-control-regex -- that is what they are.
const SEEN_NOT_READ = /\u001B\[[\d;]*m/g

/** The terminal, in columns and rows. */
export interface Room {
  readonly columns: number
  readonly rows: number
}

/** The terminal as it is now. */
export function roomNow(): Room {
  const { columns, rows } = process.stdout
  return {
    columns: Math.max(LEAST_COLUMNS, columns || Number(process.env['COLUMNS']) || 80),
    rows: rows || Number(process.env['LINES']) || 24,
  }
}

/** What a dialog offers, as it fits: later lines of an option cannot pass for options. No two are the same. */
export function optionsIn(options: readonly string[], { columns, rows }: Room): readonly string[] {
  const inSight = Math.min(options.length, OPTIONS_IN_SIGHT)
  const most = Math.floor((rows - ROWS_AROUND - LEAST_ROWS - 1) / Math.max(1, inSight))
  const fit = (option: string): string =>
    wrap(option, columns - COLUMNS_BEFORE_OPTION, Math.min(MOST_ROWS_OF_OPTION, Math.max(1, most))).join(
      '\n      ',
    )
  const taken = new Set<string>()
  return options.map((option, place) => {
    let fitting = fit(option)
    for (let n = place + 1; taken.has(fitting); n++) fitting = fit(`(${n}) ${option}`)
    taken.add(fitting)
    return fitting
  })
}

/**
 * The lines of a dialog as they fit above what it offers: pi cuts off what is below the terminal, which would be
 * the options and whatever a long text has pushed down there. What does not fit on the last page is read before; each
 * page begins with the line that says whose question it is.
 */
export function pagesOf(
  lines: readonly string[],
  options: readonly string[],
  { columns, rows }: Room,
): readonly (readonly string[])[] {
  const width = columns - 2
  const offered = options.slice(0, OPTIONS_IN_SIGHT).flatMap((option) => option.split('\n')).length
  const part = options.length > OPTIONS_IN_SIGHT ? 1 : 0
  const room = Math.max(LEAST_ROWS, rows - ROWS_AROUND - Math.max(OPTIONS_OF_PAGE, offered + part))
  // Lines of our own stay whole where there is room for all, for whoever copies an address.
  const drawn = lines.flatMap((text) => (text.startsWith('  ') ? inColumns(text, width) : [text]))
  if (drawn.reduce((sum, text) => sum + rowsOf(text, width).length, 0) <= room) return [drawn]
  const broken = drawn.flatMap((text) => rowsOf(text, width))
  const whose = lines.find((text) => text.startsWith('The MCP server')) ?? ''
  const header = (page: number, count: number) => wrap(`${whose} (${page} of ${count})`, width, 2)
  const each = Math.max(1, room - header(99, 99).length)
  const count = Math.ceil((broken.length - room) / each) + 1
  // The first page has its header in itself, and is the one that may be short.
  const first = broken.length - (count - 1) * each
  return Array.from({ length: count }, (_, n) =>
    n === 0
      ? broken.slice(0, first)
      : [...header(n + 1, count), ...broken.slice(first + (n - 1) * each, first + n * each)],
  )
}

/** A line in the rows that it takes, without its colours where it takes several. */
function rowsOf(text: string, width: number): readonly string[] {
  const read = text.replaceAll(SEEN_NOT_READ, '')
  // Those of a server fit already.
  if (text.startsWith('  ')) return [text]
  const rows = wrap(read, width, Infinity).flatMap((row) => pieces(row, width))
  return rows.length > 1 ? rows : [text]
}
