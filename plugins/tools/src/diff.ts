import type { ToolSpec } from '@tapline/core'

/** What a host must do to get from one list of tools to another. */
export interface ToolDiff {
  readonly added: readonly ToolSpec[]
  readonly changed: readonly ToolSpec[]
  /** As they were before. */
  readonly removed: readonly ToolSpec[]
}

const signatures = new WeakMap<ToolSpec, string>()

/** The difference between two lists, in the order of `after` (and `removed` in that of `before`). */
export function diffTools(before: readonly ToolSpec[], after: readonly ToolSpec[]): ToolDiff {
  const earlier = new Map(before.map((tool) => [tool.name, tool]))
  const later = new Set(after.map((tool) => tool.name))
  return {
    added: after.filter((tool) => !earlier.has(tool.name)),
    changed: after.filter((tool) => {
      const old = earlier.get(tool.name)
      return old !== undefined && old !== tool && signatureOf(old) !== signatureOf(tool)
    }),
    removed: before.filter((tool) => !later.has(tool.name)),
  }
}

/** Everything that a host registers, and where a call goes. */
function signatureOf(tool: ToolSpec): string {
  const known = signatures.get(tool)
  if (known !== undefined) return known
  const { name, server, serverTool, label, description, parameters, outputSchema, annotations, exposure } =
    tool
  const facts = [
    server.name,
    serverTool.name,
    name,
    label,
    description,
    parameters,
    outputSchema,
    annotations,
    exposure,
  ]
  const signature = JSON.stringify(facts)
  signatures.set(tool, signature)
  return signature
}
