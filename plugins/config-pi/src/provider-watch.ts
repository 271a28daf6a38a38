import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Host, ServerView } from '@tapline/core'
import { providerOf, type ProviderNeeds } from './provider.ts'

/** How long a sign-in may go unnoticed. */
const LOOK_EVERY_MS = 1_000

/** Servers that want a sign-in, until there is another token than the one that they refused. */
export interface ProviderWatch extends ProviderNeeds {
  close(): void
}

interface Need {
  readonly provider: string
  readonly token: string | undefined
}

/**
 * Connects servers again once somebody has signed in: whenever pi's `auth.json` has changed, in whichever process. It
 * does not keep the process alive.
 */
export function watchProviders(host: Host): ProviderWatch {
  const path = join(host.paths.agentDir, 'auth.json')
  const needs = new Map<string, Need>()
  let seen: string | undefined
  let timer: NodeJS.Timeout | undefined
  let looking = false
  let closed = false

  const look = async (): Promise<void> => {
    const signature = signatureOf(path)
    if (signature === seen) return
    seen = signature
    for (const [name, need] of needs) {
      if (!wants(host.server?.(name), need)) {
        needs.delete(name)
        continue
      }
      const token = await host.providerToken?.(need.provider).catch(() => undefined)
      if (closed || !token || token === need.token || needs.get(name) !== need) continue
      needs.delete(name)
      const server = host.server?.(name)
      // The error is the server's own affair, which shows it.
      if (wants(server, need) && server?.connected === false) void server.reconnect?.().catch(() => undefined)
    }
    watch()
  }
  const tick = (): void => {
    if (looking) return
    looking = true
    void look()
      .catch(() => undefined)
      .finally(() => (looking = false))
  }
  const watch = (): void => {
    if (needs.size === 0) {
      clearInterval(timer)
      timer = undefined
    } else timer ??= setInterval(tick, LOOK_EVERY_MS).unref()
  }
  return {
    need: (server, provider, token) => {
      if (closed) return
      // Whatever happened until now is looked at once.
      seen = undefined
      needs.set(server, { provider, token })
      watch()
    },
    met: (server) => {
      if (needs.delete(server)) watch()
    },
    close: () => {
      closed = true
      needs.clear()
      watch()
    },
  }
}

/** Another project may have one of the same name, and the person may have changed their mind. */
function wants(server: ServerView | undefined, { provider }: Need): boolean {
  return server?.spec.enabled === true && providerOf(server.spec.transport) === provider
}

/** Changes with the file; one that is not there has a signature too. */
function signatureOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : 'none'
}
