import type { ToolSpec } from '@tapline/core'
import type { ToolList } from '../catalogue.ts'
import { toolDescription } from '../description.ts'
import { byCodeUnits } from '../order.ts'
import { canonicalSchema, inputSchema } from '../schema/canonical.ts'
import type { CachedTool } from './entry.ts'

/** What the cache keeps of one server's tools in a list. */
export function cacheableTools(
  list: Pick<ToolList, 'tools' | 'setAside'>,
  server: string,
): readonly CachedTool[] {
  return [...list.tools, ...list.setAside]
    .filter((tool) => tool.server.name === server)
    .sort((a, b) => byCodeUnits(a.serverTool.name, b.serverTool.name))
    .map(cacheable)
}

function cacheable({ server, serverTool, hidden, ...registered }: ToolSpec): CachedTool {
  if (hidden !== undefined) return { serverTool }
  // What no plugin has changed is kept once, as it was registered: it means what the server sent.
  const input = inputSchema(serverTool.inputSchema)
  const output = canonicalSchema(serverTool.outputSchema)
  const { description } = serverTool
  const spoken =
    description !== undefined && toolDescription(server.name, serverTool) === registered.description
  return {
    serverTool: {
      ...serverTool,
      ...(spoken ? { description: registered.description } : {}),
      ...('schema' in input && input.schema === registered.parameters ? { inputSchema: input.schema } : {}),
      ...('schema' in output && output.schema === registered.outputSchema
        ? { outputSchema: output.schema }
        : {}),
    },
    registered,
  }
}
