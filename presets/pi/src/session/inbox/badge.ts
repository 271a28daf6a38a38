import { unwatchFile, watchFile } from 'node:fs'
import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { HostPaths } from '@tapline/core'
import type { Inbox } from '@tapline/inbox-sink'

const STATUS = 'tapline-inbox'
/** Other processes write the inbox too: its file is looked at this often, in milliseconds. */
const LOOK_MS = 500

/** What the footer says of the inbox. */
export interface InboxBadge {
  /** Keeps the footer true to this inbox from now on; to none when the inbox is not loaded. */
  follow(inbox: Inbox | undefined): void
  close(): void
}

/** Keeps `Inbox: N new` in pi's footer while there is something new for this project. */
export function createInboxBadge(ctx: ExtensionContext, paths: HostPaths): InboxBadge {
  // Not yet known: what an earlier session showed may still be there.
  let shown: string | undefined | null = null
  let followed: Inbox | undefined
  let closed = false

  const look = (): void => {
    if (closed) return
    const text = badgeText(followed, paths)
    if (text === shown) return
    shown = text
    try {
      ctx.ui.setStatus(STATUS, text)
    } catch {
      // The session has ended.
    }
  }
  const unfollow = (): void => {
    if (followed) unwatchFile(followed.path, look)
    followed = undefined
  }
  return {
    follow: (inbox) => {
      if (!ctx.hasUI || closed || (inbox !== undefined && inbox === followed)) return
      unfollow()
      followed = inbox
      // Polled, and not watched: this works on every file system, and for a file that is not there yet.
      if (inbox) watchFile(inbox.path, { persistent: false, interval: LOOK_MS }, look)
      look()
    },
    close: () => {
      unfollow()
      closed = true
    },
  }
}

function badgeText(inbox: Inbox | undefined, { cwd }: HostPaths): string | undefined {
  if (!inbox) return undefined
  try {
    const { listed } = inbox.view({ cwd, all: false })
    const toDecide = listed.filter(({ kind }) => kind === 'checkpoint').length
    if (listed.length === 0) return undefined
    return `Inbox: ${listed.length} new${toDecide === 0 ? '' : ` (${toDecide} to decide)`}`
  } catch {
    return 'Inbox: cannot be read'
  }
}
