import { matchesPattern } from '../pipeline/policies.ts'

/** Pages of `resources/list` that are read. */
const MOST_PAGES = 64

/** What of a server's resources matches one pattern. */
export interface Matches {
  readonly uris: readonly string[]
  /** Why that is not all, or nothing: one sentence. */
  readonly problem?: string
}

interface Page {
  readonly resources?: unknown
  readonly nextCursor?: unknown
}

/**
 * Matches patterns against a server's list of resources, which `pageOf` reads page by page; at most `most` for each.
 * Rejects as `pageOf` does.
 */
export async function matchResources(
  patterns: readonly string[],
  most: number,
  pageOf: (cursor: string | undefined) => Promise<unknown>,
): Promise<ReadonlyMap<string, Matches>> {
  const found = new Map(patterns.map((pattern) => [pattern, new Set<string>()]))
  const isFull = (uris: ReadonlySet<string>): boolean => uris.size > most
  let cursor: string | undefined
  let pages = 0
  do {
    const { resources, nextCursor } = ((await pageOf(cursor)) ?? {}) as Page
    for (const uri of urisOf(resources))
      for (const [pattern, uris] of found) if (!isFull(uris) && matchesPattern(pattern, uri)) uris.add(uri)
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined
  } while (cursor !== undefined && ++pages < MOST_PAGES && ![...found.values()].every(isFull))
  const isCut = cursor !== undefined
  return new Map(
    Array.from(found, ([pattern, uris]) => [
      pattern,
      isFull(uris)
        ? {
            uris: [...uris].slice(0, most),
            problem: `more than ${most} resources match; the rest is left out.`,
          }
        : {
            uris: [...uris],
            ...(isCut
              ? { problem: `the server's list of resources has no end; ${MOST_PAGES} pages were read.` }
              : {}),
          },
    ]),
  )
}

function urisOf(resources: unknown): readonly string[] {
  if (!Array.isArray(resources)) return []
  return resources.flatMap((resource) => {
    const uri: unknown = (resource as { readonly uri?: unknown } | null)?.uri
    return typeof uri === 'string' ? uri : []
  })
}
