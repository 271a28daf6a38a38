import { pieces, wrap } from '../screen/columns.ts'
import { inColumns } from './marks.ts'

/** What pi draws around a dialog, its footer, and a line to spare. */
const ROWS_AROUND = 11
/**
 * In a low terminal a question and its options take half of it, or so many rows: pi cuts off the end of a dialog and of
 * its footer alike, and what is below the options need not be seen.
 */
const ROWS_WITHIN = 10
/** So many options pi shows at a time, and below them which part that is. */
const OPTIONS_IN_SIGHT = 10
/** However low a terminal is. */
const LEAST_ROWS = 2
/** What options leave for what is said, where there are long ones. */
const ROWS_BESIDE_OPTIONS = 4
/** What is read before offers to go on, or not. */
const OPTIONS_OF_PAGE = 2
const MOST_ROWS_OF_OPTION = 8
const MOST_ROWS_OF_HEADER = 2
/** With fewer rows for a page, its header takes one of them. */
const ROOMY = 6
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
  const most = Math.floor((rowsWithin(rows) - ROWS_BESIDE_OPTIONS) / Math.max(1, inSight))
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
 * page begins with the line that says what the question is.
 */
export function pagesOf(
  lines: readonly string[],
  options: readonly string[],
  { columns, rows }: Room,
): readonly (readonly string[])[] {
  const width = columns - 2
  const above = (offered: number): number =>
    Math.max(LEAST_ROWS, rowsWithin(rows) - Math.max(OPTIONS_OF_PAGE, offered))
  const offered = options.slice(0, OPTIONS_IN_SIGHT).flatMap((option) => option.split('\n')).length
  const room = above(offered + (options.length > OPTIONS_IN_SIGHT ? 1 : 0))
  // Lines of our own stay whole where there is room for all, for whoever copies an address.
  const drawn = lines.flatMap((text) => (text.startsWith('  ') ? inColumns(text, width) : [text]))
  if (drawn.reduce((sum, text) => sum + rowsOf(text, width).length, 0) <= room) return [drawn]
  const broken = drawn.flatMap((text) => rowsOf(text, width))
  const header = headerOf(lines, width, room < ROOMY ? 1 : MOST_ROWS_OF_HEADER)
  const height = header(999, 999).length
  const [most, each] = [above(OPTIONS_OF_PAGE), Math.max(1, above(OPTIONS_OF_PAGE) - height)]
  const before = broken.length - Math.max(1, room - height)
  const between = Math.max(0, Math.ceil((before - most) / each))
  // The first page has its header in itself, and is the one that may be short.
  const first = before - between * each
  return [
    broken.slice(0, first),
    ...Array.from({ length: between + 1 }, (_, n) => [
      ...header(n + 2, between + 2),
      ...broken.slice(first + n * each, n === between ? undefined : first + (n + 1) * each),
    ]),
  ]
}

/** What begins a page: the first line of our own that is no warning, and which page it is. */
function headerOf(
  lines: readonly string[],
  width: number,
  most: number,
): (page: number, count: number) => readonly string[] {
  const question = (lines.find((text) => !/^(?:! | {2})/.test(text)) ?? '').replaceAll(SEEN_NOT_READ, '')
  return (page, count) => {
    const place = ` (${page} of ${count})`
    const whole = wrap(question + place, width, Infinity)
    if (whole.length <= most) return whole
    const cut = wrap(question, Math.max(2, width - place.length), most)
    return [...cut.slice(0, -1), `${cut.at(-1)}${place}`]
  }
}

/** What there is for a question and its options. */
function rowsWithin(rows: number): number {
  return Math.max(rows - ROWS_AROUND, Math.min(ROWS_WITHIN, Math.floor(rows / 2)))
}

/** A line in the rows that it takes, without its colours where it takes several. */
function rowsOf(text: string, width: number): readonly string[] {
  const read = text.replaceAll(SEEN_NOT_READ, '')
  // Those of others fit already.
  if (text.startsWith('  ')) return [text]
  const rows = wrap(read, width, Infinity).flatMap((row) => pieces(row, width))
  return rows.length > 1 ? rows : [text]
}
