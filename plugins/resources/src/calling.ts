import type { ResourceToolName } from './definitions.ts'
import { list, RESOURCES, TEMPLATES } from './listing.ts'
import { read } from './reading.ts'
import type { ResourceAnswer, ResourceServer } from './source.ts'

/** What a call of a resource tool needs. */
export interface ResourceCall {
  /** The servers with resources that the model may reach, as they are now. */
  readonly servers: readonly ResourceServer[]
  readonly signal?: AbortSignal | undefined
}

/** Calls a resource tool. Rejects with a sentence for the model when arguments are wrong or a server fails. */
export async function callResourceTool(
  tool: ResourceToolName,
  params: unknown,
  { servers, signal }: ResourceCall,
): Promise<ResourceAnswer> {
  const server = argument(params, 'server')
  if (tool === 'read_mcp_resource') {
    const uri = argument(params, 'uri')
    if (server === undefined) throw new Error('server must be provided')
    if (uri === undefined) throw new Error('uri must be provided')
    return read(server, uri, servers, signal)
  }
  const kind = tool === 'list_mcp_resources' ? RESOURCES : TEMPLATES
  return list(kind, { server, cursor: argument(params, 'cursor') }, servers, signal)
}

function argument(params: unknown, key: string): string | undefined {
  const value = (params as Readonly<Record<string, unknown>> | null | undefined)?.[key]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new Error(`${key} must be a string`)
  return value.trim() || undefined
}
