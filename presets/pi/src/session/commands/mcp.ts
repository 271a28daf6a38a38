import { messageOf, settledWithin } from '@tapline/core'
import { reconnectServer } from '../servers/operations.ts'
import { serversText } from '../servers-text.ts'
import { signInServers, signInTo, signOutOf } from '../sign-in/index.ts'
import { type Action, type CommandScope, completeActions, runAction, type SlashCommand } from './command.ts'
import { CHANGES, completeChange } from './mcp-changes.ts'

/** Whatever is typed meanwhile waits, too; in milliseconds. */
const LONGEST_WAIT_MS = 10_000

const ACTIONS: Readonly<Record<string, Action>> = {
  status: async (_rest, ctx, scope) => {
    // A run that begins with this ends with it: nothing is told later.
    if (!ctx.hasUI) await allSettled(scope)
    ctx.ui.notify(serversText(scope.tapline, scope.toolbox), 'info')
  },
  reconnect: async (rest, ctx, scope) => {
    const { tapline } = scope
    const [name] = rest.split(/\s+/).filter(Boolean)
    const named = name === undefined ? undefined : tapline.server(name)
    if (name !== undefined && !named) return ctx.ui.notify(`No MCP server is named "${name}".`, 'warning')
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
    if (!['login', 'logout', 'reconnect'].includes(action)) return null
    const servers = action === 'reconnect' ? (tapline?.servers ?? []) : signInServers(tapline)
    if (servers.some(({ spec }) => spec.name === name)) return null
    const named = servers.filter(({ spec }) => spec.name.startsWith(name))
    return named.length === 0
      ? null
      : named.map(({ spec }) => ({ value: `${action} ${spec.name}`, label: spec.name }))
  },
}

/** Each server is connected and its tools are there, or it has failed once, or takes too long to be waited for. */
async function allSettled({ tapline, toolbox }: CommandScope): Promise<void> {
  await settledWithin(LONGEST_WAIT_MS, () => Promise.all(tapline.servers.map((server) => server.settled())))
  await toolbox.applyNow()
}
