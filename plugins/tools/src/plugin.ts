import type { Plugin, ToolSpec } from '@tapline/core'
import { toolDescription, toolHints } from './description.ts'
import { toolExposure } from './exposure.ts'
import { toolLabel, toolName } from './naming.ts'
import { canonicalSchema, inputSchema } from './schema/canonical.ts'

/** Gives tools their names, descriptions, exposure and canonical schemas, and sets aside those that no model could call. */
export const tools = (): Plugin => ({
  name: 'tools',
  api: 1,
  setup({ hooks }) {
    // Critical: a tool that could not be named, limited or checked is set aside, never offered as it came.
    const early = { stage: 'early', critical: true } as const
    hooks.registerTool.tap(early, (tool, context) => named(tool, (name) => context.taken(name)))
    hooks.registerTool.tap({ critical: true }, described)
    hooks.registerTool.tap({ critical: true }, checked)
  },
})

function named(tool: ToolSpec, taken: (name: string) => boolean): ToolSpec {
  const { server, serverTool } = tool
  const name = toolName(server.naming, server.name, serverTool.name, taken)
  return { ...tool, name, label: toolLabel(server.naming, server.name, serverTool.name, name) }
}

function described(tool: ToolSpec): ToolSpec {
  const { server, serverTool } = tool
  const { annotations: sent, ...rest } = tool
  const annotations = toolHints(sent)
  return {
    ...rest,
    description: toolDescription(server.name, serverTool, tool.description),
    exposure: toolExposure(server, serverTool.name),
    ...(annotations ? { annotations } : {}),
  }
}

function checked(tool: ToolSpec): ToolSpec {
  const input = inputSchema(tool.parameters)
  if ('reason' in input) {
    return {
      ...tool,
      parameters: {},
      hidden: tool.hidden ?? `its input schema cannot be used: ${input.reason}`,
    }
  }
  const { outputSchema, ...rest } = tool
  // A broken promise about results hides nothing: results are taken as they come.
  const output = canonicalSchema(outputSchema)
  return { ...rest, parameters: input.schema, ...('schema' in output ? { outputSchema: output.schema } : {}) }
}
