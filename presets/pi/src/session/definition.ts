import { cleanLines, cut, type ToolAnnotations, type ToolSpec } from '@tapline/core'
import { resultSchema } from '@tapline/tools'
import type { CachedTool } from '../cached-tools.ts'
import { namespaceOf } from '../servers-section.ts'

/** What a server says of itself is read by the model whenever it asks for the namespace. */
const LONGEST_WORDS = 8_192

/**
 * The pi definition of a tool, without what it does. `codemode` and `deferred` are both pi's
 * `deferred`: they differ only in the tool that reaches them (pi's docs/mcp.md).
 */
export function definitionOf(spec: ToolSpec, instructions: string | undefined): CachedTool {
  const { server } = spec
  const annotations = hintsOf(spec.annotations)
  const description = bounded(server.description)
  const ownWords = bounded(instructions)
  return {
    name: spec.name,
    label: spec.label,
    description: spec.description,
    parameters: spec.parameters,
    outputSchema: resultSchema(spec.outputSchema),
    exposure: spec.exposure === 'codemode' ? 'deferred' : spec.exposure,
    namespace: {
      name: namespaceOf(server.name),
      aliases: [server.name],
      ...(description ? { description } : {}),
      ...(ownWords ? { instructions: ownWords } : {}),
    },
    ...(annotations ? { annotations } : {}),
  }
}

function bounded(text: string | undefined): string {
  return text === undefined ? '' : cut(cleanLines(text).trim(), LONGEST_WORDS)
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

function hintsOf(annotations: ToolAnnotations | undefined): Record<string, boolean> | undefined {
  const hints: Record<string, boolean> = {}
  for (const hint of HINTS) {
    const value = annotations?.[hint]
    if (typeof value === 'boolean') hints[hint] = value
  }
  return Object.keys(hints).length > 0 ? hints : undefined
}
