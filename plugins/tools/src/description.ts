import type { ServerTool, ToolAnnotations } from '@tapline/core'
import { cleanLine, cleanLines } from './text.ts'

/** Longer descriptions are cut: they cost context in every request. */
const LONGEST_DESCRIPTION = 8_192
const LONGEST_TITLE = 200

/** What the model reads about a tool: the server's words, bounded and free of control and bidi characters. */
export function toolDescription(
  server: string,
  tool: ServerTool,
  description: unknown = tool.description,
): string {
  const said = typeof description === 'string' ? cleanLines(description, LONGEST_DESCRIPTION) : ''
  if (said !== '') return said
  const title = tool.title ?? tool.annotations?.title
  const titled = typeof title === 'string' ? cleanLine(title, LONGEST_TITLE) : ''
  return titled || `MCP tool ${cleanLine(tool.name, LONGEST_TITLE)} from server ${server}`
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** The boolean hints, which permission gates read; undefined when the server gave none. */
export function toolHints(annotations: unknown): ToolAnnotations | undefined {
  if (typeof annotations !== 'object' || annotations === null) return undefined
  const given = annotations as Readonly<Record<string, unknown>>
  const hints = HINTS.filter((hint) => typeof given[hint] === 'boolean')
  return hints.length === 0 ? undefined : Object.fromEntries(hints.map((hint) => [hint, given[hint]]))
}
