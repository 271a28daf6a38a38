import type { Server } from '@tapline/headless'

/** Servers as they are listed: those that need somebody first, then by name. */
export function byAttention(servers: readonly Server[]): readonly Server[] {
  // A status is put together anew whenever it is asked for.
  return servers
    .map((server) => ({ server, rank: rankOf(server) }))
    .toSorted((a, b) => a.rank - b.rank || byName(a.server, b.server))
    .map(({ server }) => server)
}

/** Whether somebody has to do something about it. */
export function needsAttention(server: Server): boolean {
  return rankOf(server) < 2
}

function rankOf({ spec, session, listError }: Server): number {
  if (!spec.enabled) return 5
  switch (session.status.state) {
    case 'auth_failed':
      return 0
    case 'disconnected':
      return 1
    case 'reconnecting':
      return 2
    case 'connected':
      return listError === undefined && session.status.attention === undefined ? 4 : 1
    default:
      return 3
  }
}

function byName({ spec: a }: Server, { spec: b }: Server): number {
  return a.name.localeCompare(b.name) || (a.name < b.name ? -1 : 1)
}
