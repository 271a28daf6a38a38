import type { ServerSpec } from '@tapline/core'
import type { Server } from './server.ts'

const LOOKED_UP: ReadonlySet<string> = new Set<keyof ServerSpec>([
  'description',
  'exposure',
  'toolExposure',
  'naming',
  'results',
  'push',
])

/**
 * What decides about a server's connection, as a text to compare: everything but what is looked up anew whenever it
 * is needed (description, exposures, names, sizes of results, push policies, and on which line the entry stands).
 * Where an entry comes from does count: credentials are given by it.
 */
export function connectionOf(spec: ServerSpec): string {
  const { source, ...rest } = spec
  const connection = Object.entries(rest).filter(([key]) => !LOOKED_UP.has(key))
  return JSON.stringify([connection, source.scope, source.path])
}

/** Gives a running server the entry as it is now. Answers whether that is news. */
export function adopted(server: Server, spec: ServerSpec): boolean {
  const news = JSON.stringify(server.spec) !== JSON.stringify(spec)
  if (news) server.adopt(spec)
  return news
}
