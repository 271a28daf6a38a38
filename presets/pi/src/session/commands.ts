import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { isTaplineError, messageOf } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { serversText } from './servers-text.ts'
import { sourcesText } from './sources-text.ts'
import type { Toolbox } from './toolbox.ts'

type Completions = { value: string; label: string; description?: string }[] | null
type Action = (
  name: string | undefined,
  ctx: ExtensionCommandContext,
  tapline: Tapline,
  toolbox: Toolbox,
) => Promise<void> | void

const MCP: Readonly<Record<string, Action>> = {
  status: (_name, ctx, tapline, toolbox) => ctx.ui.notify(serversText(tapline, toolbox), 'info'),
  reconnect: async (name, ctx, tapline, toolbox) => {
    const servers =
      name === undefined ? tapline.servers.filter(({ spec }) => spec.enabled) : [tapline.server(name)]
    for (const server of servers) {
      if (!server) return ctx.ui.notify(`No MCP server is named "${name}".`, 'warning')
      await reconnect(server, ctx, toolbox)
    }
  },
  reload: async (_name, ctx, tapline, toolbox) => {
    await tapline.reload()
    toolbox.changed()
    await Promise.all(tapline.servers.map((server) => server.settled()))
    ctx.ui.notify(serversText(tapline, toolbox), 'info')
  },
}

const TRIGGERS: Readonly<Record<string, Action>> = {
  status: (_name, ctx, tapline, toolbox) => ctx.ui.notify(sourcesText(tapline, toolbox), 'info'),
  sources: (_name, ctx, tapline, toolbox) => ctx.ui.notify(sourcesText(tapline, toolbox), 'info'),
}

/** Runs `/mcp`. */
export function runMcp(
  args: string,
  ctx: ExtensionCommandContext,
  tapline: Tapline,
  toolbox: Toolbox,
): Promise<void> {
  return run('mcp', MCP, args, ctx, tapline, toolbox)
}

/** Runs `/triggers`. */
export function runTriggers(
  args: string,
  ctx: ExtensionCommandContext,
  tapline: Tapline,
  toolbox: Toolbox,
): Promise<void> {
  return run('triggers', TRIGGERS, args, ctx, tapline, toolbox)
}

/** What may follow `/mcp`. */
export function completeMcp(prefix: string, servers: readonly Server[]): Completions {
  const [action, name, ...rest] = prefix.trimStart().split(/\s+/)
  if (rest.length > 0) return null
  if (name === undefined) return completeActions(MCP, action ?? '')
  if (action !== 'reconnect') return null
  if (servers.some(({ spec }) => spec.name === name)) return null
  const named = servers.filter(({ spec }) => spec.name.startsWith(name))
  return named.length === 0
    ? null
    : named.map(({ spec }) => ({ value: `reconnect ${spec.name}`, label: spec.name }))
}

/** What may follow `/triggers`. */
export function completeTriggers(prefix: string): Completions {
  return completeActions(TRIGGERS, prefix.trim())
}

async function run(
  command: string,
  actions: Readonly<Record<string, Action>>,
  args: string,
  ctx: ExtensionCommandContext,
  tapline: Tapline,
  toolbox: Toolbox,
): Promise<void> {
  const [name = 'status', argument] = args.trim().split(/\s+/).filter(Boolean)
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) {
    ctx.ui.notify(
      `unknown /${command} command: ${name}. usage: /${command} [${Object.keys(actions).join('|')}]`,
      'warning',
    )
    return
  }
  await action(argument, ctx, tapline, toolbox)
}

async function reconnect(server: Server, ctx: ExtensionCommandContext, toolbox: Toolbox): Promise<void> {
  if (!server.spec.enabled) return ctx.ui.notify(`MCP server "${server.spec.name}" is disabled.`, 'warning')
  try {
    await server.session.reconnect()
    await server.settled()
    toolbox.applyNow()
    ctx.ui.notify(
      `MCP server "${server.spec.name}" is connected (${toolbox.toolsOf(server.spec.name).length} tools).`,
      'info',
    )
  } catch (thrown) {
    const message = isTaplineError(thrown) ? thrown.toString() : messageOf(thrown)
    ctx.ui.notify(`mcp server '${server.spec.name}' failed: ${message}`, 'warning')
  }
}

function completeActions(actions: Readonly<Record<string, Action>>, prefix: string): Completions {
  // Enter would only complete what is complete already.
  if (Object.hasOwn(actions, prefix)) return null
  const names = Object.keys(actions).filter((name) => name.startsWith(prefix))
  return names.length === 0 ? null : names.map((name) => ({ value: name, label: name }))
}
