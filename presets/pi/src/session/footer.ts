import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Server } from '@tapline/headless'

/** The status line of the servers. */
export interface Footer {
  show(servers: readonly Server[]): void
}

/** Keeps pi's footer true: how many servers are connected, connecting or down. */
export function createFooter(ctx: ExtensionContext): Footer {
  // Not yet known: what an earlier session showed may still be there.
  let shown: string | undefined | null = null
  return {
    show: (servers) => {
      const text = footerText(servers)
      if (text === shown) return
      shown = text
      try {
        ctx.ui.setStatus('tapline', text)
      } catch {
        // The session has ended.
      }
    },
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
