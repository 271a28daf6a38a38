import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import { cleanText, type Exposure, sentence, type ServerSpec } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { activateTools } from '../activation.ts'
import { namespaceOf } from '../servers-section.ts'
import type { Notices } from './notices.ts'

const LONGEST_REASON = 1_000

/** Every exposure that a server's tools can have by its entry. */
export function exposuresOf(spec: ServerSpec): ReadonlySet<Exposure> {
  return new Set([spec.exposure, ...Object.values(spec.toolExposure)])
}

/** Activates `codemode` and `tool_search` where servers have tools that only those reach (pi's docs/mcp.md). */
export function activateReachingTools(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  { servers, autoEnableCodemode }: Tapline,
  notices: Notices,
  own: { isOwn(name: string): boolean },
): void {
  const exposures = new Set(
    servers.filter(({ spec }) => spec.enabled).flatMap(({ spec }) => [...exposuresOf(spec)]),
  )
  const needed = [
    ...(exposures.has('codemode') && autoEnableCodemode ? ['codemode'] : []),
    ...(exposures.has('deferred') ? ['tool_search'] : []),
  ]
  if (!exposures.has('codemode') && !exposures.has('deferred')) return
  const reaching = new Set(
    pi
      .getAllTools()
      .filter((tool) => tool.reachesTools)
      .map(({ name }) => name),
  )
  activateTools(
    pi,
    ctx,
    needed.filter((name) => reaching.has(name)),
    (name) => own.isOwn(name),
  )
  const reachable = pi
    .getActiveTools()
    .some((name) => (name === 'codemode' || name === 'tool_search') && reaching.has(name))
  if (reachable) return
  const forbidden = exposures.has('codemode') && reaching.has('codemode') && !autoEnableCodemode
  const reason = forbidden ? ' (autoEnableCodemode is false)' : ''
  notices.say({
    severity: 'warning',
    message: `MCP tools are only reachable from the codemode or tool_search tool, but neither is active${reason}; they cannot be called.`,
  })
}

/** Those that may soon offer something. One that is down is not waited for: it would hold up every script. */
export function unsettled(servers: readonly Server[]): readonly Server[] {
  return servers.filter(({ session, listed, unreachable }) => {
    const { state } = session.status
    if (state === 'connected') return !listed
    return unreachable === undefined && (state === 'pending' || state === 'connecting')
  })
}

/**
 * Throws when the server could not be reached when that was last tried, with where it stands: what a model asked for
 * fails at once, and is not done by surprise when the server is back. That it was asked for is why the next attempt
 * to connect is made now.
 */
export function assertReachable({ unreachable, spec, session }: Server): void {
  if (unreachable === undefined) return
  void session.ready().catch(() => undefined)
  const { state, attempt, attention, signIn } = session.status
  const standing = {
    auth_failed: signIn ? 'needs sign-in' : 'failed',
    connecting: `connecting, attempt ${attempt} of ${spec.reconnect.maxAttempts}`,
    reconnecting: `reconnecting, attempt ${attempt} of ${spec.reconnect.maxAttempts}`,
  }
  const where = Object.hasOwn(standing, state) ? standing[state as keyof typeof standing] : state
  const words = [
    `MCP server "${spec.name}" is not connected (${where}): ${sentence(cleanText(unreachable, LONGEST_REASON))}`,
    'Nothing was sent to it; it is being tried again now.',
    ...(attention === undefined ? [] : [sentence(cleanText(attention, LONGEST_REASON))]),
  ]
  throw new Error(words.join(' '))
}

/** Why a tool that the model knows of cannot be called. */
export function whyGone(name: string, server: Server | undefined): string {
  if (server && !server.spec.enabled) return `MCP server "${server.spec.name}" is disabled.`
  if (server && unsettled([server]).length > 0) return `MCP server "${server.spec.name}" is still starting.`
  return `MCP tool "${name}" is no longer available.`
}

/** The servers that must have settled before this call runs. */
export function serversToWaitFor(
  pi: ExtensionAPI,
  servers: readonly Server[],
  name: string,
  input: Record<string, unknown>,
): readonly Server[] {
  const waiting = unsettled(servers)
  if (waiting.length === 0) return []
  const reach = pi
    .getAllTools()
    .find((tool) => tool.name === name)
    ?.reachesTools?.(input)
  if (reach === undefined) return []
  if (reach === 'all') return waiting
  return waiting.filter(({ spec }) => reach.some((word) => word.includes(namespaceOf(spec.name))))
}
