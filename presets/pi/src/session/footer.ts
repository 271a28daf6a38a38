import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { HostPaths } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { createInboxBadge } from './inbox/badge.ts'

/** What Tapline says in pi's footer. */
export interface Footer {
  show(tapline: Pick<Tapline, 'servers' | 'services'>): void
  close(): void
}

/** Keeps pi's footer true: how many servers are connected, connecting or down, and what is new in the inbox. */
export function createFooter(ctx: ExtensionContext, paths: HostPaths): Footer {
  const badge = createInboxBadge(ctx, paths)
  // Not yet known: what an earlier session showed may still be there.
  let shown: string | undefined | null = null
  return {
    show: ({ servers, services }) => {
      badge.follow(services.inbox?.inbox)
      const text = footerText(servers)
      if (text === shown) return
      shown = text
      try {
        ctx.ui.setStatus('tapline', text)
      } catch {
        // The session has ended.
      }
    },
    close: () => badge.close(),
  }
}

function footerText(servers: readonly Server[]): string | undefined {
  const states = servers.filter(({ spec }) => spec.enabled).map(({ session }) => session.status.state)
  if (states.length === 0) return undefined
  const count = (...wanted: string[]): number => states.filter((state) => wanted.includes(state)).length
  const connected = count('connected')
  const parts = [`MCP ${connected}/${states.length}`]
  const connecting = count('pending', 'connecting')
  const reconnecting = count('reconnecting')
  const down = count('disconnected', 'auth_failed')
  if (connecting > 0) parts.push(`${connecting} connecting…`)
  if (reconnecting > 0) parts.push(`${reconnecting} reconnecting`)
  if (down > 0) parts.push(`${down} down`)
  return parts.join(' · ')
}
