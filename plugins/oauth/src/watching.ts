import type { Host } from '@tapline/core'
import type { Account } from './account.ts'

/** How long another process's sign-in may go unnoticed. */
const LOOK_EVERY_MS = 1_000

/** Connects servers again whose sign-in another process has seen to. */
export interface Watching {
  need(name: string, account: Account | undefined, needed: boolean): void
  close(): void
}

/**
 * Looks at the stored tokens every second for as long as a server wants a sign-in; the file is read again only when it
 * has changed. It does not keep the process alive.
 */
export function watchSignIns(host: Host): Watching {
  const needy = new Map<string, Account>()
  let timer: NodeJS.Timeout | undefined
  let looking = false
  let closed = false

  const look = async (): Promise<void> => {
    for (const [name, account] of needy) {
      if (!(await account.signedInSince())) continue
      account.done()
      const server = host.server?.(name)
      // The error is the server's own affair, which shows it.
      if (server?.spec.enabled === true && !server.connected) void server.reconnect?.().catch(() => undefined)
    }
  }
  const tick = (): void => {
    if (looking) return
    looking = true
    void look()
      .catch(() => undefined)
      .finally(() => (looking = false))
  }
  const watch = (): void => {
    if (needy.size === 0) {
      clearInterval(timer)
      timer = undefined
    } else timer ??= setInterval(tick, LOOK_EVERY_MS).unref()
  }
  return {
    need: (name, account, needed) => {
      // What was asked before the end may be refused after it.
      if (closed) return
      if (needed && account) needy.set(name, account)
      else needy.delete(name)
      watch()
    },
    close: () => {
      closed = true
      needy.clear()
      watch()
    },
  }
}
