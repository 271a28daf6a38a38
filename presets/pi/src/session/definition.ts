import type { ToolAnnotations, ToolSpec } from '@tapline/core'
import { resultSchema } from '@tapline/tools'
import type { CachedTool } from '../cached-tools.ts'
import { namespaceOf } from './reach.ts'

/**
 * The pi definition of a tool, without what it does. `codemode` and `deferred` are both pi's
 * `deferred`: they differ only in the tool that reaches them (pi's docs/mcp.md).
 */
export function definitionOf(spec: ToolSpec, instructions: string | undefined): CachedTool {
  const { server } = spec
  const annotations = hintsOf(spec.annotations)
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
      ...(server.description ? { description: server.description } : {}),
      ...(instructions ? { instructions } : {}),
    },
    ...(annotations ? { annotations } : {}),
  }
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
