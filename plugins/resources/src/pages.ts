import type { ResourceServer } from './source.ts'

/** An entry of a list, as the server sent it. */
export type Item = Readonly<Record<string, unknown>>

/** One kind of list, and what its entries are known by. */
export interface ListKind {
  readonly method: 'resources/list' | 'resources/templates/list'
  readonly key: 'resources' | 'resourceTemplates'
  readonly id: 'uri' | 'uriTemplate'
}

/** One page. */
export interface Page {
  readonly items: readonly Item[]
  readonly nextCursor?: string
}

/** Bounds of a whole list: a server without an end to its list must not take all memory. */
const MOST_PAGES = 1_000
const MOST_ITEMS = 50_000
const METHOD_NOT_FOUND = -32_601

/** One page of a server's list, checked. */
export function onePage(
  kind: ListKind,
  server: ResourceServer,
  cursor: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Page> {
  return orNone(kind, () => read(kind, server, cursor, signal), { items: [] })
}

/** Every entry of a server's list. */
export function allPages(
  kind: ListKind,
  server: ResourceServer,
  signal: AbortSignal | undefined,
): Promise<readonly Item[]> {
  return orNone(kind, () => readAll(kind, server, signal), [])
}

/** Many servers offer resources and have never heard of templates. */
async function orNone<T>({ key }: ListKind, list: () => Promise<T>, none: T): Promise<T> {
  try {
    return await list()
  } catch (thrown) {
    if (key === 'resourceTemplates' && codeOf(thrown) === METHOD_NOT_FOUND) return none
    throw thrown
  }
}

async function readAll(
  kind: ListKind,
  server: ResourceServer,
  signal: AbortSignal | undefined,
): Promise<readonly Item[]> {
  const items: Item[] = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const page = await read(kind, server, cursor, signal)
    for (const item of page.items) items.push(item)
    if (page.nextCursor === undefined) return items
    if (items.length > MOST_ITEMS) throw new Error(`MCP ${kind.method} exceeded ${MOST_ITEMS} entries`)
    if (cursors.has(page.nextCursor))
      throw new Error(`MCP ${kind.method} returned duplicate cursor: ${page.nextCursor}`)
    cursors.add(page.nextCursor)
    cursor = page.nextCursor
  }
  throw new Error(`MCP ${kind.method} exceeded ${MOST_PAGES} pages`)
}

async function read(
  kind: ListKind,
  server: ResourceServer,
  cursor: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Page> {
  const params = cursor === undefined ? undefined : { cursor }
  return pageIn(kind, await server.request(kind.method, params, signal))
}

function pageIn({ method, key, id }: ListKind, result: unknown): Page {
  const items = isRecord(result) ? result[key] : undefined
  if (!isRecord(result) || !Array.isArray(items)) throw new Error(`Invalid MCP ${method} result`)
  const checked = items.map((item: unknown): Item => {
    const usable =
      isRecord(item) &&
      typeof item[id] === 'string' &&
      (item['name'] === undefined || typeof item['name'] === 'string')
    if (!usable) throw new Error(`Invalid entry in MCP ${method} result`)
    // The name is required, but some servers leave it out; the address stands in.
    return { ...item, name: item['name'] ?? item[id] }
  })
  const { nextCursor } = result
  // Some servers end with null or "" instead of leaving the cursor out.
  if (nextCursor === undefined || nextCursor === null || nextCursor === '') return { items: checked }
  if (typeof nextCursor !== 'string') throw new Error(`Invalid MCP ${method} cursor`)
  return { items: checked, nextCursor }
}

function codeOf(thrown: unknown): unknown {
  return (thrown as { readonly data?: { readonly code?: unknown } } | undefined)?.data?.code
}

/** Whether a value is an object that is no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
