import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { isTaplineError, messageOf } from '@tapline/core'
import { openBrowser, type Server, type Tapline } from '@tapline/headless'
import type { CommandScope } from '../commands/command.ts'
import { promptIn } from './prompt.ts'

const NONE = 'No enabled MCP server uses OAuth. Only HTTP servers without a credential of their own do.'
const NOT_LOADED = 'The plugin "oauth" is not loaded: take it out of "disable" in tapline.*.'

/** `/mcp login [server]`: signs in with OAuth in a browser, then connects. */
export async function signInTo(
  name: string,
  ctx: ExtensionCommandContext,
  scope: CommandScope,
): Promise<void> {
  const server = await pick(name, ctx, scope)
  const { signIns } = scope.tapline.services
  if (!server || !signIns) return
  const shown = server.spec.name
  if (!ctx.hasUI) {
    // pi shows no notices there.
    process.stderr.write(`To sign in somebody must be there. In a shell: tapline login ${shown}\n`)
    return
  }
  const over = new AbortController()
  try {
    // What the server answers to somebody who has not signed in says where to sign in.
    if (server.session.status.state !== 'connected') await server.settled()
    const prompt = promptIn(ctx, shown, (address) => openBrowser(address, process.env))
    await signIns.signIn(server.spec, prompt, { signal: over.signal })
    await server.session.reconnect()
    await server.settled()
    scope.toolbox.applyNow()
    const tools = scope.toolbox.toolsOf(shown).length
    ctx.ui.notify(`Signed in to MCP server "${shown}" (${tools} tool${tools === 1 ? '' : 's'}).`, 'info')
  } catch (thrown) {
    if (isTaplineError(thrown) && thrown.code === 'CANCELLED') return lastWords(ctx, 'Sign-in cancelled.')
    const message = isTaplineError(thrown) ? thrown.toString() : messageOf(thrown)
    ctx.ui.notify(`Sign-in to MCP server "${shown}" failed: ${message}`, 'warning')
  }
}

/** `/mcp logout [server]`: deletes what is stored for the server, here and for pi. */
export async function signOutOf(
  name: string,
  ctx: ExtensionCommandContext,
  scope: CommandScope,
): Promise<void> {
  const server = await pick(name, ctx, scope)
  const { signIns } = scope.tapline.services
  if (!server || !signIns) return
  const shown = server.spec.name
  try {
    const removed = await signIns.signOut(server.spec)
    // It shows at once what works without a sign-in: mostly nothing.
    if (removed && server.spec.enabled) await server.session.reconnect().catch(() => undefined)
    scope.toolbox.changed()
    ctx.ui.notify(
      removed ? `Signed out of MCP server "${shown}".` : `No stored credentials for MCP server "${shown}".`,
      'info',
    )
  } catch (thrown) {
    ctx.ui.notify(`Sign-out of MCP server "${shown}" failed: ${messageOf(thrown)}`, 'warning')
  }
}

/** The servers that sign in with OAuth. */
export function signInServers(tapline: Tapline | undefined): readonly Server[] {
  const signIns = tapline?.services.signIns
  return tapline?.servers.filter(({ spec }) => spec.enabled && signIns?.uses(spec)) ?? []
}

/** The named server, else the one that is meant, else the one that is chosen. Says why there is none. */
async function pick(
  name: string,
  ctx: ExtensionCommandContext,
  { tapline }: CommandScope,
): Promise<Server | undefined> {
  const say = (message: string): undefined => {
    ctx.ui.notify(message, 'warning')
  }
  if (!tapline.services.signIns) return say(NOT_LOADED)
  const servers = signInServers(tapline)
  if (name !== '') {
    const named = tapline.server(name)
    if (!named) return say(`No MCP server is named "${name}".`)
    if (!named.spec.enabled) return say(`MCP server "${named.spec.name}" is disabled.`)
    return servers.includes(named)
      ? named
      : say(
          `MCP server "${named.spec.name}" does not use OAuth. HTTP servers without a credential of their own do.`,
        )
  }
  const waiting = servers.filter(({ session }) => session.status.state === 'auth_failed')
  const only = servers.length === 1 ? servers : waiting
  if (only.length === 1) return only[0]
  if (servers.length === 0) return say(NONE)
  const names = servers.map(({ spec }) => spec.name)
  if (!ctx.hasUI) return say(`Which MCP server? ${names.join(', ')}`)
  const chosen = await ctx.ui.select('MCP server', names)
  return servers.find(({ spec }) => spec.name === chosen)
}

/** A session that has ended has nobody to tell. */
function lastWords(ctx: ExtensionCommandContext, message: string): void {
  try {
    ctx.ui.notify(message, 'info')
  } catch {
    // It ended the sign-in.
  }
}
