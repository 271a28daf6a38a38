import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import { activateTools, isFresh } from './activation.ts'
import { cachedTools, type EarlyTools, forgetCachedTools, type ToolCaller } from './cached-tools.ts'
import { claimProcess, standDownMessage } from './claim.ts'
import { collectPlugins } from './collect.ts'
import { createOpening, type Opening } from './opening.ts'
import { type ForeseenServer, lookAhead } from './outlook.ts'
import { type PromptSections, sectionsOf, writeSections } from './prompt-sections.ts'
import { offerResourceTools } from './resource-tools.ts'
import { offerRuleTools } from './rule-tools.ts'
import { serversSection } from './servers-section.ts'
import type { PiSession } from './session/session.ts'
import { drawServerTools } from './tool-drawing.ts'

const NO_SESSION = 'MCP servers are not connected: there is no session, or --no-tapline was given.'

const COMMANDS = {
  mcp: 'MCP servers: a panel of them; status, login, logout, reconnect, enable, disable, exposure <server>, reload',
  inbox: 'What arrived and waits for you: claim <n|id>, dismiss <n|id> [reason], clear, all',
  cron: 'Scheduled jobs: add <schedule> <text>, list, remove, enable, disable, run',
  triggers: 'What arrives by itself, and what becomes of it: status, rules, sources, help',
  'new-trigger': 'A rule in one sentence: <what to watch for, and what to do then>',
} as const

/**
 * The pi extension. This file and the few it imports are all that is loaded before a session starts:
 * everything else is imported afterwards, and not at all while nothing is configured. It imports no
 * values of pi, so that Node loads it and pi's transpiler does not (see entry.mjs).
 */
export default function tapline(pi: ExtensionAPI): void {
  const claim = claimProcess()
  if (!claim) {
    pi.on('session_start', (_event, ctx) => tell(ctx, standDownMessage(), 'warning'))
    return
  }
  let opening: Opening | undefined
  /** What the prompt says until the session is there to say it. */
  let foreseen: PromptSections = {}
  const session = (): Promise<PiSession> => opening?.ensure() ?? Promise.reject(new Error(NO_SESSION))

  const callTool: ToolCaller = async (name, ...call) => (await session()).callTool(name, ...call)

  pi.registerFlag('no-tapline', {
    type: 'boolean',
    default: false,
    description: 'Connect no MCP servers in this run',
  })
  const drawing = drawServerTools(pi)
  for (const [name, description] of Object.entries(COMMANDS)) {
    pi.registerCommand(name, {
      description,
      getArgumentCompletions: async (prefix) => (await opening?.opened())?.complete(name, prefix) ?? null,
      handler: async (args, ctx) => {
        if (!opening) return tell(ctx, NO_SESSION, 'warning')
        if (name === 'new-trigger') offerRuleTools(pi, ctx, callTool)
        await (await session()).command(name, args, ctx)
      },
    })
  }
  // A name that another extension has would end pi while it loads; see forgetCachedTools.
  const cached = cachedTools(callTool)
  for (const tool of cached.tools) pi.registerTool(tool)
  const cancelForget = forgetCachedTools(cached)

  pi.on('session_start', (_event, ctx) => {
    cancelForget()
    if (pi.getFlag('no-tapline') === true) {
      for (const tool of cached.tools) pi.registerTool({ ...tool, exposure: 'hidden' })
      return
    }
    const plugins = collectPlugins(pi, ctx)
    const outlook = lookAhead({
      cwd: ctx.cwd,
      projectTrusted: ctx.isProjectTrusted(),
      extended: plugins.length > 0 || pi.getMcpServers().length > 0,
      cacheComplete: cached.complete,
    })
    activateTools(
      pi,
      ctx,
      ableToReach(pi, outlook.reaching),
      (name) => cached.early.names.has(name),
      () => (outlook.empty ? undefined : offerRuleTools(pi, ctx, callTool)),
    )
    const heard = ({ name, ofUser }: ForeseenServer) => (ofUser ? cached.instructionsOf(name) : undefined)
    const servers = outlook.servers.map((server) => ({ ...server, instructions: heard(server) }))
    foreseen = sectionsOf({ section: () => serversSection(servers) })
    const resourceTools = offerResourceTools(pi, outlook, callTool)
    const names = new Set([...cached.early.names, ...resourceTools])
    const early = { ...cached.early, names, resumed: !isFresh(ctx) }
    opening = createOpening(() => {
      const opened = open(pi, ctx, early, plugins)
      void opened.then(drawing.load, () => undefined)
      return opened
    })
    opening.plan(outlook)
  })
  // A prompt of a server may be sent before its server is connected, and where there are no commands.
  pi.on('input', async (event, ctx) => {
    if (!opening || event.source === 'extension' || !event.text.startsWith('/mcp:')) return undefined
    try {
      return await (await session()).prompts.input(event, ctx)
    } catch (thrown) {
      const [command] = event.text.split(/\s/, 1)
      tell(ctx, `${command} was not run: ${reasonOf(thrown)}`)
      if (!ctx.hasUI) process.exitCode = 1
      return { action: 'handled' }
    }
  })
  pi.on('before_agent_start', async (event, ctx) => {
    if (!opening) return
    opening.promptStarts()
    const running = await opening.opened()
    writeSections(event, (await running?.beforePrompt(ctx.signal)) ?? foreseen)
  })
  pi.on('before_provider_request', () => opening?.requestMade())
  pi.on('after_provider_response', () => opening?.requestArrived())
  pi.on('tool_call', async (event, ctx) => {
    if (!opening || !pi.getAllTools().find(({ name }) => name === event.toolName)?.reachesTools) return
    await (await session()).beforeToolCall(event.toolName, event.input, ctx.signal)
  })
  pi.on('agent_settled', async () => {
    // A prompt that was interrupted early has made no request.
    opening?.requestMade()
    const running = await opening?.opened()
    running?.settled()
  })
  pi.on('session_compact', async () => (await opening?.opened())?.settled())
  pi.on('session_compact_failed', async () => (await opening?.opened())?.settled())
  pi.on('mcp_servers_change', async () => {
    if (opening) await (await session()).serversRegistered()
  })
  pi.on('session_shutdown', async () => {
    const ending = opening
    opening = undefined
    claim.release()
    await (await ending?.end())?.close()
  })
}

/** The first render comes before any import. */
async function open(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  early: EarlyTools,
  plugins: readonly unknown[],
): Promise<PiSession> {
  await new Promise((resolve) => setImmediate(resolve))
  try {
    const { openSession } = await import('../native.mjs')
    return await openSession(pi, ctx, early, plugins)
  } catch (thrown) {
    tell(ctx, `Tapline could not start: ${reasonOf(thrown)}`)
    throw thrown
  }
}

/** In print and JSON runs pi shows no notices. */
function tell(
  { hasUI, ui }: ExtensionContext,
  problem: string,
  severity: 'warning' | 'error' = 'error',
): void {
  if (hasUI) return ui.notify(problem, severity)
  process.stderr.write(`${problem}\n`)
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Codemode and tool search must be active in the first request when servers are reached through them. */
function ableToReach(pi: ExtensionAPI, reaching: readonly string[]): readonly string[] {
  if (reaching.length === 0) return []
  const able = new Set(
    pi
      .getAllTools()
      .filter(({ reachesTools }) => reachesTools)
      .map(({ name }) => name),
  )
  return reaching.filter((name) => able.has(name))
}

export type { ServerEvent, TriggerStateEvent } from './session/events.ts'
