import { parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Node, ParseError } from 'jsonc-parser'

/** A parsed mcp.json. */
export interface Document {
  readonly value: unknown
  /** The 1-based line of a server's entry, or of a field in it. */
  lineOf(server: string, field?: readonly string[]): number | undefined
  /** The 1-based line of a top-level key. */
  lineOfKey(key: string): number | undefined
  /** Server names that are written more than once. The last one counts. */
  readonly repeated: readonly string[]
}

/** Why a text is not JSON. */
export interface DocumentProblem {
  readonly problem: string
  readonly line?: number
}

/** Parses what pi would accept; `jsonc-parser` only says where things are. Never throws. */
export function parseDocument(text: string): Document | DocumentProblem {
  const { tree, errors } = treeOf(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return problemOf(text, errors)
  }
  const root = propertiesOf(tree)
  const servers = propertiesOf(root.get('mcpServers')?.value)
  const lineAt = lineFinder(text)
  return {
    value,
    lineOfKey: (key) => lineAt(root.get(key)?.offset),
    lineOf: (server, field = []) => {
      const entry = servers.get(server)
      let line = lineAt(entry?.offset)
      let node = entry?.value
      for (const key of field) {
        const property = propertiesOf(node).get(key)
        if (!property) break
        line = lineAt(property.offset)
        node = property.value
      }
      return line
    },
    repeated: [...servers].filter(([, { times }]) => times > 1).map(([name]) => name),
  }
}

function treeOf(text: string): { tree: Node | undefined; errors: readonly ParseError[] } {
  const errors: ParseError[] = []
  try {
    return { tree: parseTree(text, errors, { disallowComments: true, allowTrailingComma: false }), errors }
  } catch {
    // It is recursive: a text nested some thousand levels deep ends it.
    return { tree: undefined, errors: [] }
  }
}

interface Property {
  readonly offset: number
  readonly value: Node | undefined
  readonly times: number
}

function propertiesOf(node: Node | undefined): ReadonlyMap<string, Property> {
  const properties = new Map<string, Property>()
  if (node?.type !== 'object') return properties
  for (const { offset, children } of node.children ?? []) {
    const key: unknown = children?.[0]?.value
    if (typeof key !== 'string') continue
    properties.set(key, { offset, value: children?.[1], times: (properties.get(key)?.times ?? 0) + 1 })
  }
  return properties
}

const PROBLEMS: Readonly<Record<string, string>> = {
  InvalidCommentToken: 'comments are not allowed in mcp.json: pi would refuse the file',
  UnexpectedEndOfComment: 'comments are not allowed in mcp.json: pi would refuse the file',
  InvalidSymbol: 'this is not JSON (names and strings stand in double quotes)',
  PropertyNameExpected: 'a property name in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is expected here',
  CommaExpected: 'a comma is expected here',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'there is more text after the end of the JSON',
  UnexpectedEndOfString: 'a string is not closed on its line',
  InvalidUnicode: 'a \\u escape is not valid',
  InvalidEscapeCharacter: 'a \\ escape is not valid (write \\\\ for a backslash)',
  InvalidCharacter: 'a string holds a control character (write \\n or \\t)',
  InvalidNumberFormat: 'a number is not valid',
}

function problemOf(text: string, errors: readonly ParseError[]): DocumentProblem {
  const first = errors[0]
  if (!first) return { problem: 'it is not valid JSON' }
  const before = text.slice(0, first.offset).trimEnd()
  const trailing = before.endsWith(',') && /[}\]]/.test(text[first.offset] ?? '')
  const line = lineFinder(text)(trailing ? before.length - 1 : first.offset)
  const problem = trailing
    ? 'trailing commas are not allowed in mcp.json: pi would refuse the file'
    : (PROBLEMS[printParseErrorCode(first.error)] ?? 'it is not valid JSON')
  return line === undefined ? { problem } : { problem, line }
}

function lineFinder(text: string): (offset: number | undefined) => number | undefined {
  let ends: number[] | undefined
  return (offset) => {
    if (offset === undefined) return undefined
    ends ??= Array.from(text.matchAll(/\n/g), ({ index }) => index)
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (ends[middle]! < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}
