import { parse, TomlDate, TomlError } from 'smol-toml'

/** A table of a file. */
export type Table = Readonly<Record<string, unknown>>

/** A parsed mcp.toml. */
export interface Document {
  readonly value: Table
  /** The 1-based line of the nth `[[server]]`, where that is certain. */
  lineOf(index: number): number | undefined
}

/** Why a text is not TOML, in a sentence that quotes nothing of it. */
export interface DocumentProblem {
  readonly problem: string
  readonly line?: number
}

/** Parses TOML 1.0. Dates become text. Never throws. */
export function parseDocument(text: string): Document | DocumentProblem {
  let value: Record<string, unknown>
  try {
    value = parse(text)
    writeOutDates(value)
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) return { problem: 'it is not valid TOML' }
    // The rest of the message quotes the lines around, and with them what they hold.
    const reason = thrown.message.split('\n', 1)[0]!.replace('Invalid TOML document: ', '')
    return { problem: `TOML line ${thrown.line}: ${reason}`, line: thrown.line }
  }
  const lines = headerLines(text)
  // A header inside a multi-line string would shift the others: then no line is better than a wrong one.
  const certain = Array.isArray(value.server) && value.server.length === lines.length
  return { value, lineOf: (index) => (certain ? lines[index] : undefined) }
}

const HEADER = /^\uFEFF?[ \t]*\[\[[ \t]*(?:server|"server"|'server')[ \t]*\]\]/

function headerLines(text: string): number[] {
  return text.split('\n').flatMap((line, index) => (HEADER.test(line) ? [index + 1] : []))
}

/** To everything that reads on, a date is a text that was written without quotes. */
function writeOutDates(parent: Record<string, unknown> | unknown[]): void {
  for (const [key, value] of Object.entries(parent)) {
    if (value instanceof TomlDate) (parent as Record<string, unknown>)[key] = value.toISOString()
    else if (typeof value === 'object' && value !== null) writeOutDates(value as Record<string, unknown>)
  }
}

/** Whether a value of a file is a table. */
export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
