import { messageOf, settledWithin } from '@tapline/core'
import { reconnectServer } from '../servers/operations.ts'
import { serversText } from '../servers-text.ts'
import { signInServers, signInTo, signOutOf } from '../sign-in/index.ts'
import { type Action, type CommandScope, completeActions, runAction, type SlashCommand } from './command.ts'
import { CHANGES, completeChange } from './mcp-changes.ts'

/** Whatever is typed meanwhile waits, too; in milliseconds. */
const LONGEST_WAIT_MS = 10_000

const ACTIONS: Readonly<Record<string, Action>> = {
  status: async (rest, ctx, scope) => {
    const [name, tool, ...more] = rest.split(/\s+/).filter(Boolean)
    if (more.length > 0) return ctx.ui.notify('usage: /mcp status [server [tool]]', 'warning')
    // A run that begins with this ends with it: nothing is told later.
    if (!ctx.hasUI) await allSettled(scope)
    if (name === undefined) return ctx.ui.notify(serversText(scope.tapline, scope.toolbox), 'info')
    const server = scope.tapline.server(name)
    if (!server) return ctx.ui.notify(noServer(name), 'warning')
    const { serverText, toolText } = await import('../servers/server-text.ts')
    const text = tool === undefined ? await serverText(server, scope) : toolText(server, tool, scope)
    if (text !== undefined) return ctx.ui.notify(text, 'info')
    ctx.ui.notify(`MCP server "${server.spec.name}" offers no tool "${tool}".`, 'warning')
  },
  reconnect: async (rest, ctx, scope) => {
    const { tapline } = scope
    const [name, ...more] = rest.split(/\s+/).filter(Boolean)
    if (more.length > 0) return ctx.ui.notify('usage: /mcp reconnect [server]', 'warning')
    const named = name === undefined ? undefined : tapline.server(name)
    if (name !== undefined && !named) return ctx.ui.notify(noServer(name), 'warning')
    const servers = named ? [named] : tapline.servers.filter(({ spec }) => spec.enabled)
    // One that takes its time holds up no other.
    await Promise.all(
      servers.map(async (server) => {
        try {
          ctx.ui.notify(await reconnectServer(server, scope), 'info')
        } catch (thrown) {
          ctx.ui.notify(messageOf(thrown), 'warning')
        }
      }),
    )
  },
  login: (rest, ctx, scope) => signInTo(rest, ctx, scope),
  logout: (rest, ctx, scope) => signOutOf(rest, ctx, scope),
  ...CHANGES,
  reload: async (_rest, ctx, scope) => {
    await scope.tapline.reload()
    scope.reloaded()
    await allSettled(scope)
    ctx.ui.notify(serversText(scope.tapline, scope.toolbox), 'info')
  },
}

/** `/mcp`: the servers, in the terminal as a panel. */
export const mcpCommand: SlashCommand = {
  run: async (args, ctx, scope) => {
    if (args.trim() !== '' || ctx.mode !== 'tui') return runAction('mcp', ACTIONS, 'status', args, ctx, scope)
    // Most sessions never need it.
    const { openServers } = await import('../servers/index.ts')
    await openServers(ctx, scope)
  },
  complete: (prefix, tapline) => {
    const [action = '', name, ...rest] = prefix.trimStart().split(/\s+/)
    if (Object.hasOwn(CHANGES, action) && name !== undefined)
      return completeChange(action, [name, ...rest], tapline)
    if (rest.length > 0) return null
    if (name === undefined) return completeActions(ACTIONS, action)
    if (!['status', 'login', 'logout', 'reconnect'].includes(action)) return null
    const isAny = action === 'status' || action === 'reconnect'
    const servers = isAny ? (tapline?.servers ?? []) : signInServers(tapline)
    if (servers.some(({ spec }) => spec.name === name)) return null
    const named = servers.filter(({ spec }) => spec.name.startsWith(name))
    return named.length === 0
      ? null
      : named.map(({ spec }) => ({ value: `${action} ${spec.name}`, label: spec.name }))
  },
}

function noServer(name: string): string {
  return `No MCP server is named "${name}".`
}

/** Each server is connected and its tools are there, or it has failed once, or takes too long to be waited for. */
async function allSettled({ tapline, toolbox }: CommandScope): Promise<void> {
  await settledWithin(LONGEST_WAIT_MS, () => Promise.all(tapline.servers.map((server) => server.settled())))
  await toolbox.applyNow()
}
