const segmenter = new Intl.Segmenter()
const PLAIN = /^[ -~]+$/

/** Characters beyond the first alphabets that take one column: accented letters, punctuation, arrows, lines. */
const NARROW: readonly (readonly [number, number])[] = [
  [0x1e00, 0x1fff],
  [0x2010, 0x205e],
  [0x20a0, 0x20bf],
  [0x2190, 0x22ff],
  [0x2500, 0x257f],
]

/**
 * The columns that a text takes in a terminal, or more: pi ends when a line is wider than the terminal, so what may be
 * wide counts as wide. The text is clean: it has no control characters and no escape sequences.
 */
export function columnsOf(text: string): number {
  let columns = 0
  for (const char of text) columns += isNarrow(char.codePointAt(0) as number) ? 1 : 2
  return columns
}

/** At most so many columns of a text; an ellipsis is the last of them when something was cut. */
export function fit(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  if (columns < 1) return ''
  const [first = ''] = pieces(text, columns - 1)
  return `${first.trimEnd()}…`
}

/** A text with blanks after it, so that what follows stands in column `columns`. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

/** The lines of a text, broken between words where that is possible, at most `most`; the last one says if there is more. */
export function wrap(text: string, columns: number, most: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((word) => pieces(word, Math.max(2, columns)))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (columnsOf(longer) <= columns) {
      line = longer
      continue
    }
    lines.push(line)
    line = word
  }
  lines.push(line)
  if (lines.length <= most) return lines
  return [...lines.slice(0, most - 1), fit(lines.slice(most - 1).join(' '), columns)]
}

/** A text in pieces of at most so many columns, one at least; nothing that belongs together is parted. */
export function pieces(text: string, columns: number): string[] {
  if (columnsOf(text) <= columns) return [text]
  const found: string[] = []
  // Long addresses and encoded data need not be looked at letter by letter.
  if (columns >= 1 && PLAIN.test(text)) {
    for (let at = 0; at < text.length; at += columns) found.push(text.slice(at, at + columns))
    return found
  }
  let piece = ''
  let width = 0
  for (const { segment } of segmenter.segment(text)) {
    const own = columnsOf(segment)
    // Many marks on one letter, or a wide letter in one column, have no place anywhere.
    if (own > columns) continue
    if (width + own > columns) {
      found.push(piece)
      piece = ''
      width = 0
    }
    piece += segment
    width += own
  }
  return [...found, piece]
}

function isNarrow(point: number): boolean {
  return point < 0x1100 || NARROW.some(([first, last]) => point >= first && point <= last)
}
