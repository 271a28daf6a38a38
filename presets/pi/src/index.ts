import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { PiSession } from './session/session.ts'
import { claimProcess, standDownMessage } from './claim.ts'
import { cachedTools, forgetCachedTools } from './cached-tools.ts'

/**
 * The pi extension. This file and the two it imports are all that pi's loader transpiles: everything
 * else is imported natively, after the session has started.
 */
export default function tapline(pi: ExtensionAPI): void {
  const claim = claimProcess()
  if (!claim) {
    pi.on('session_start', (_event, ctx) => ctx.ui.notify(standDownMessage(), 'warning'))
    return
  }
  let session: Promise<PiSession> | undefined
  const current = (): Promise<PiSession> => session ?? Promise.reject(new Error('MCP servers are not connected: no session is open.'))

  pi.registerFlag('no-tapline', { type: 'boolean', default: false, description: 'Connect no MCP servers in this run' })
  pi.registerCommand('mcp', {
    description: 'MCP servers: status, reconnect <server>, reload',
    getArgumentCompletions: async (prefix) => (session ? (await session).completeMcp(prefix) : null),
    handler: async (args, ctx) => (await current()).mcp(args, ctx),
  })
  pi.registerCommand('triggers', {
    description: 'What MCP servers push: sources, status',
    getArgumentCompletions: async (prefix) => (session ? (await session).completeTriggers(prefix) : null),
    handler: async (args, ctx) => (await current()).triggers(args, ctx),
  })
  // A name that another extension has would end pi while it loads; see forgetCachedTools.
  const cached = cachedTools(async (name, ...call) => (await current()).callTool(name, ...call))
  for (const tool of cached.tools) pi.registerTool(tool)
  const cancelForget = forgetCachedTools(cached)

  pi.on('session_start', (_event, ctx) => {
    cancelForget()
    if (pi.getFlag('no-tapline') === true) return
    session = open(pi, ctx, cached.names)
    session.catch((error: unknown) => ctx.ui.notify(`Tapline could not start: ${error instanceof Error ? error.message : String(error)}`, 'error'))
  })
  pi.on('before_agent_start', async (_event, ctx) => (await opened(session))?.beforePrompt(ctx.signal))
  pi.on('tool_call', async (event, ctx) => (await opened(session))?.beforeToolCall(event.toolName, event.input, ctx.signal))
  pi.on('agent_settled', async () => (await opened(session))?.settled())
  pi.on('session_compact', async () => (await opened(session))?.settled())
  pi.on('mcp_servers_change', async () => (await opened(session))?.serversRegistered())
  pi.on('session_shutdown', async () => {
    const closing = session
    session = undefined
    claim.release()
    await (await opened(closing))?.close()
  })
}

/** The first render comes before any import. */
async function open(pi: ExtensionAPI, ctx: ExtensionContext, cachedNames: ReadonlySet<string>): Promise<PiSession> {
  await new Promise((resolve) => setImmediate(resolve))
  const { openSession } = await import('../native.mjs')
  return openSession(pi, ctx, cachedNames)
}

function opened(session: Promise<PiSession> | undefined): Promise<PiSession | undefined> {
  return session ? session.catch(() => undefined) : Promise.resolve(undefined)
}
