import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { isTaplineError, messageOf } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { serversText } from '../servers-text.ts'
import { signInServers, signInTo, signOutOf } from '../sign-in/index.ts'
import type { Toolbox } from '../toolbox.ts'
import { type Action, completeActions, runAction, type SlashCommand } from './command.ts'
import { CHANGES, completeChange } from './mcp-changes.ts'

const ACTIONS: Readonly<Record<string, Action>> = {
  status: (_rest, ctx, { tapline, toolbox }) => ctx.ui.notify(serversText(tapline, toolbox), 'info'),
  reconnect: async (rest, ctx, { tapline, toolbox }) => {
    const [name] = rest.split(/\s+/).filter(Boolean)
    const servers =
      name === undefined ? tapline.servers.filter(({ spec }) => spec.enabled) : [tapline.server(name)]
    for (const server of servers) {
      if (!server) return ctx.ui.notify(`No MCP server is named "${name}".`, 'warning')
      await reconnect(server, ctx, toolbox)
    }
  },
  login: (rest, ctx, scope) => signInTo(rest, ctx, scope),
  logout: (rest, ctx, scope) => signOutOf(rest, ctx, scope),
  ...CHANGES,
  reload: async (_rest, ctx, { tapline, toolbox, reloaded }) => {
    await tapline.reload()
    reloaded()
    await Promise.all(tapline.servers.map((server) => server.settled()))
    ctx.ui.notify(serversText(tapline, toolbox), 'info')
  },
}

/** `/mcp`: the servers. */
export const mcpCommand: SlashCommand = {
  run: (args, ctx, scope) => runAction('mcp', ACTIONS, 'status', args, ctx, scope),
  complete: (prefix, tapline) => {
    const [action = '', name, ...rest] = prefix.trimStart().split(/\s+/)
    if (Object.hasOwn(CHANGES, action) && name !== undefined)
      return completeChange(action, [name, ...rest], tapline)
    if (rest.length > 0) return null
    if (name === undefined) return completeActions(ACTIONS, action)
    if (!['login', 'logout', 'reconnect'].includes(action)) return null
    const servers = action === 'reconnect' ? (tapline?.servers ?? []) : signInServers(tapline)
    if (servers.some(({ spec }) => spec.name === name)) return null
    const named = servers.filter(({ spec }) => spec.name.startsWith(name))
    return named.length === 0
      ? null
      : named.map(({ spec }) => ({ value: `${action} ${spec.name}`, label: spec.name }))
  },
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
