import type { Lane } from './lane.ts'

/** Whether another process delivers what is on a lane; `hasCompany` is asked once for each server. */
export function elsewhere(
  hasCompany: ((server: string) => boolean) | undefined,
): (lane: Pick<Lane, 'server' | 'scope' | 'policy'>) => boolean {
  const known = new Map<string, boolean>()
  return ({ server, scope, policy }) => {
    // Windows settle among themselves which of them takes an event of a channel.
    const isShared = scope === 'project' || policy === 'channel'
    if (!isShared || !hasCompany) return false
    const found = known.get(server) ?? hasCompany(server)
    known.set(server, found)
    return found
  }
}
