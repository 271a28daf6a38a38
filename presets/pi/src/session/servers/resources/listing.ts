import { cleanText, isTaplineError, messageOf } from '@tapline/core'
import type { Server } from '@tapline/headless'

/** An entry of a list, as the server sent it: anything. */
export type Resource = Readonly<Record<string, unknown>>

interface Listing {
  readonly method: string
  /** The field of the answer that has the entries. */
  readonly field: string
  /** Whether servers that know nothing of the method have none of these. */
  readonly optional?: boolean
}

const LISTINGS: readonly Listing[] = [
  { method: 'resources/list', field: 'resources' },
  { method: 'resources/templates/list', field: 'resourceTemplates', optional: true },
]

const MOST_PAGES = 20
const MOST_RESOURCES = 1_000
const METHOD_NOT_FOUND = -32_601

/** The resources and templates of a server, as far as they were looked at. */
export interface ResourceListing {
  readonly resources: readonly Resource[]
  /** There is more than is shown. */
  readonly isCut: boolean
}

/** Lists what a server has, page after page within bounds. Rejects with a sentence. */
export async function listResources(
  { session }: Pick<Server, 'session'>,
  signal: AbortSignal,
): Promise<ResourceListing> {
  const resources: Resource[] = []
  let isCut = false
  for (const listing of LISTINGS) {
    try {
      isCut = (await addPages(session, listing, resources, signal)) || isCut
    } catch (thrown) {
      if (listing.optional && isTaplineError(thrown) && thrown.data['code'] === METHOD_NOT_FOUND) continue
      throw new Error(cleanText(isTaplineError(thrown) ? thrown.toString() : messageOf(thrown), 600), {
        cause: thrown,
      })
    }
  }
  return { resources, isCut }
}

/** Answers whether there is more than it has taken. */
async function addPages(
  session: Server['session'],
  { method, field }: Listing,
  resources: Resource[],
  signal: AbortSignal,
): Promise<boolean> {
  const cursors = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await session.request(method, cursor === undefined ? undefined : { cursor }, { signal })
    const { [field]: listed, nextCursor } = asRecord(answer)
    if (!Array.isArray(listed)) throw new Error(`The answer to ${method} is no list.`)
    for (const item of listed as readonly unknown[]) {
      if (resources.length >= MOST_RESOURCES) return true
      resources.push(asRecord(item))
    }
    // Some servers end with null or "" instead of leaving the cursor out.
    if (typeof nextCursor !== 'string' || nextCursor === '' || cursors.has(nextCursor)) return false
    cursors.add(nextCursor)
    cursor = nextCursor
  }
  return true
}

function asRecord(value: unknown): Resource {
  return typeof value === 'object' && value !== null ? (value as Resource) : {}
}
