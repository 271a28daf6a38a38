import { allPages, type Item, type ListKind, onePage } from './pages.ts'
import { retried } from './retry.ts'
import { type ResourceAnswer, type ResourceServer, serverNamed } from './source.ts'

/** What is listed by `list_mcp_resources`. */
export const RESOURCES: ListKind = { method: 'resources/list', key: 'resources', id: 'uri' }
/** What is listed by `list_mcp_resource_templates`. */
export const TEMPLATES: ListKind = {
  method: 'resources/templates/list',
  key: 'resourceTemplates',
  id: 'uriTemplate',
}

/** Where to list, and from where. */
export interface ListRequest {
  /** Every server when absent. */
  readonly server: string | undefined
  readonly cursor: string | undefined
}

/**
 * One page of one server, or every page of every server in order of their names; a server that fails is told of beside
 * what the others have.
 */
export async function list(
  kind: ListKind,
  { server: name, cursor }: ListRequest,
  servers: readonly ResourceServer[],
  signal: AbortSignal | undefined,
): Promise<ResourceAnswer> {
  if (name === undefined && cursor !== undefined)
    throw new Error('cursor can only be used when a server is specified')
  const structuredContent =
    name === undefined
      ? await listEvery(kind, servers, signal)
      : await listOne(kind, serverNamed(servers, name), cursor, signal)
  const text = JSON.stringify(structuredContent)
  return { server: name ?? '', content: [{ type: 'text', text }], structuredContent }
}

async function listOne(
  kind: ListKind,
  server: ResourceServer,
  cursor: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  const { items, nextCursor } = await retried(() => onePage(kind, server, cursor, signal), signal)
  return {
    server: server.name,
    [kind.key]: items.filter((item) => isForModels(kind, item)).map((item) => listed(server, item)),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  }
}

async function listEvery(
  kind: ListKind,
  servers: readonly ResourceServer[],
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  const sorted = servers.toSorted((a, b) => a.name.localeCompare(b.name))
  const lists = await Promise.allSettled(
    sorted.map((server) => retried(() => allPages(kind, server, signal), signal)),
  )
  const items: Item[] = []
  const errors: { server: string; error: string }[] = []
  for (const [index, server] of sorted.entries()) {
    const found = lists[index]
    if (found?.status === 'fulfilled') {
      for (const item of found.value) if (isForModels(kind, item)) items.push(listed(server, item))
    } else errors.push({ server: server.name, error: messageOf(found?.reason) })
  }
  return { [kind.key]: items, ...(errors.length > 0 ? { errors } : {}) }
}

/** What MCP Apps show to people is of use only to a host that draws it. */
function isForModels({ id }: ListKind, item: Item): boolean {
  const { [id]: uri, mimeType } = item
  if (typeof uri === 'string' && uri.startsWith('ui://')) return false
  return !(typeof mimeType === 'string' && /;\s*profile\s*=\s*"?mcp-app"?/i.test(mimeType))
}

/** An entry with its server; `_meta` and icons are no use to a model. */
function listed({ name }: ResourceServer, { _meta, icons: _icons, ...rest }: Item): Item {
  return { server: name, ...rest }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
