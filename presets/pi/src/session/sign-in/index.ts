import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { messageOf, type ServerSpec } from '@tapline/core'
import { openBrowser, providerOf, type Server, type Tapline } from '@tapline/headless'
import type { CommandScope } from '../commands/command.ts'
import { promptIn } from './prompt.ts'
import { CANCELLED, signIn, signOut } from './signing.ts'

const NONE = 'No enabled MCP server uses OAuth. Only HTTP servers without a credential of their own do.'
const NOT_LOADED = 'The plugin "oauth" is not loaded: take it out of "disable" in tapline.*.'

/** `/mcp login [server]`: signs in with OAuth in a browser, then connects. */
export async function signInTo(
  name: string,
  ctx: ExtensionCommandContext,
  scope: CommandScope,
): Promise<void> {
  const server = await pick(name, ctx, scope)
  if (!server) return
  const { name: shown } = server.spec
  if (!ctx.hasUI) {
    // pi shows no notices there.
    process.stderr.write(`To sign in somebody must be there. In a shell: tapline login ${shown}\n`)
    return
  }
  try {
    const prompt = promptIn(ctx, shown, (address) => openBrowser(address, process.env))
    ctx.ui.notify(await signIn(server, scope, prompt, new AbortController().signal), 'info')
  } catch (thrown) {
    const message = messageOf(thrown)
    if (message === CANCELLED) lastWords(ctx, message)
    else ctx.ui.notify(message, 'warning')
  }
}

/** `/mcp logout [server]`: deletes what is stored for the server, here and for pi. */
export async function signOutOf(
  name: string,
  ctx: ExtensionCommandContext,
  scope: CommandScope,
): Promise<void> {
  const server = await pick(name, ctx, scope)
  if (!server) return
  try {
    ctx.ui.notify(await signOut(server, scope), 'info')
  } catch (thrown) {
    ctx.ui.notify(messageOf(thrown), 'warning')
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
    return servers.includes(named) ? named : say(otherWay(named.spec))
  }
  const waiting = servers.filter(({ session: { status } }) => status.state === 'auth_failed' || status.signIn)
  const only = servers.length === 1 ? servers : waiting
  if (only.length === 1) return only[0]
  if (servers.length === 0) return say(NONE)
  const names = servers.map(({ spec }) => spec.name)
  if (!ctx.hasUI) return say(`Which MCP server? ${names.join(', ')}`)
  const chosen = await ctx.ui.select('MCP server', names)
  return servers.find(({ spec }) => spec.name === chosen)
}

/** Why a server is not signed in to with OAuth. */
function otherWay({ name, transport }: ServerSpec): string {
  const provider = providerOf(transport)
  return provider === undefined
    ? `MCP server "${name}" does not use OAuth. HTTP servers without a credential of their own do.`
    : `MCP server "${name}" uses the sign-in of provider "${provider}". Run /login ${provider}, or /logout.`
}

/** A session that has ended has nobody to tell. */
function lastWords(ctx: ExtensionCommandContext, message: string): void {
  try {
    ctx.ui.notify(message, 'info')
  } catch {
    // It ended the sign-in.
  }
}
