import { unwatchFile, watchFile } from 'node:fs'
import type { Host } from '@tapline/core'
import type { Account } from './account.ts'

/** How long another process's sign-in may go unnoticed. */
const LOOK_EVERY_MS = 1_000

/** Connects servers again whose sign-in another process has seen to. */
export interface Watching {
  need(name: string, account: Account | undefined, needed: boolean): void
  close(): void
}

/** Watches the file of the tokens for as long as a server wants a sign-in, and does not keep the process alive for it. */
export function watchSignIns(path: string, host: Host): Watching {
  const needy = new Map<string, Account>()
  let watched = false
  let closed = false
  const look = async (): Promise<void> => {
    for (const [name, account] of needy) {
      if (!(await account.signedInSince())) continue
      account.done()
      const server = host.server?.(name)
      // The error is the server's own affair, which shows it.
      if (server && !server.connected) await server.reconnect?.().catch(() => undefined)
    }
  }
  const changed = (): void => void look().catch(() => undefined)
  const watch = (): void => {
    if (watched === needy.size > 0) return
    watched = needy.size > 0
    if (watched) watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, changed)
    else unwatchFile(path, changed)
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
