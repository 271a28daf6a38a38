/** One piece of what was typed behind a command. Positions are offsets in the text. */
export interface Piece {
  /** The argument that `name=` in front of it names. */
  readonly name?: string
  /** Without its quotes. */
  readonly value: string
  readonly start: number
  /** Where its value begins, quotes included. */
  readonly valueStart: number
  readonly end: number
  /** It begins with a quote that nothing closes. */
  readonly open: boolean
}

const SPACE = /\s/

/**
 * Takes a text apart at whitespace. `"…"` and `'…'` are one piece where they begin and end one; in the former `\"` and
 * `\\` stand for `"` and `\`. Any other quote is a character like all others. `name=` and `--name=` at the beginning of a
 * piece name an argument, each once; where there is one argument alone, only at the very beginning: its value may be
 * text that looks the same.
 */
export function piecesOf(text: string, names: readonly string[]): readonly Piece[] {
  const pieces: Piece[] = []
  const unnamed = new Set(names)
  const quotes = quotesIn(text)
  for (let start = skipSpace(text, 0); start < text.length; start = skipSpace(text, pieces.at(-1)!.end)) {
    const mayName = names.length > 1 || pieces.length === 0
    const named = mayName ? nameAt(text, start, unnamed) : undefined
    if (named) unnamed.delete(named.name)
    const valueStart = named?.end ?? start
    pieces.push({
      ...(named ? { name: named.name } : {}),
      start,
      valueStart,
      ...valueAt(text, valueStart, quotes),
    })
  }
  return pieces
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && SPACE.test(text[at]!)) at += 1
  return at
}

function endOfWord(text: string, from: number): number {
  let at = from
  while (at < text.length && !SPACE.test(text[at]!)) at += 1
  return at
}

/** The longest name: one may be the beginning of another. */
function nameAt(
  text: string,
  start: number,
  names: ReadonlySet<string>,
): { readonly name: string; readonly end: number } | undefined {
  let found: { readonly name: string; readonly end: number } | undefined
  const from = text.startsWith('--', start) ? [start, start + 2] : [start]
  for (const name of names) {
    for (const at of from) {
      const end = at + name.length + 1
      if (text.startsWith(`${name}=`, at) && end > (found?.end ?? 0)) found = { name, end }
    }
  }
  return found
}

type Value = Pick<Piece, 'value' | 'end' | 'open'>

function valueAt(text: string, start: number, quotes: Quotes): Value {
  const quote = text[start]
  const isQuote = quote === '"' || quote === "'"
  const closing = isQuote ? quotes.closing(quote, start + 1) : undefined
  if (closing !== undefined) {
    const inside = text.slice(start + 1, closing)
    return {
      value: quote === '"' ? inside.replace(/\\(["\\])/g, '$1') : inside,
      end: closing + 1,
      open: false,
    }
  }
  const end = endOfWord(text, start)
  return { value: text.slice(start, end), end, open: isQuote }
}

interface Quotes {
  /** Where the quote closes that was opened before `from`. */
  closing(quote: '"' | "'", from: number): number | undefined
}

/** Looks for each kind of quote at most once to the end of a text in which nothing closes. */
function quotesIn(text: string): Quotes {
  const none = new Set<string>()
  return {
    closing: (quote, from) => {
      if (none.has(quote)) return undefined
      for (let at = from; at < text.length; at += 1) {
        if (quote === '"' && text[at] === '\\') at += 1
        else if (text[at] === quote && (at + 1 === text.length || SPACE.test(text[at + 1]!))) return at
      }
      none.add(quote)
      return undefined
    },
  }
}
