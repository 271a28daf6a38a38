import { createInterface } from 'node:readline/promises'
import { providerOf } from '@tapline/config-pi'
import { isTaplineError, messageOf, type SessionState } from '@tapline/core'
import type { SignInPrompt, SignIns } from '@tapline/oauth'
import type { Server } from '../host/server.ts'
import type { Tapline } from '../host/tapline.ts'
import { openBrowser } from '../sign-in/browser.ts'
import { serverFor } from './call.ts'
import { type CommandContext, openTapline } from './command.ts'
import { atInterrupt } from './interrupts.ts'

const INTERRUPTED = 130
const USUAL_SECONDS = 300

/** `tapline login <server>`: signs in with OAuth in a browser, here or on another machine, then connects. */
export async function signIn(context: CommandContext, name: string): Promise<number> {
  const tapline = await openTapline(context, 'ignore', { attempts: 1 })
  const interrupt = new AbortController()
  const stopListening = atInterrupt(() => interrupt.abort())
  try {
    const { server, signIns } = signInsFor(tapline, name, 'login')
    // What the server answers to somebody who has not signed in says where to sign in.
    await server.settled(interrupt.signal)
    if (stateOf(server) === 'connected') return report(context, tapline, server, 'already')
    if (stateOf(server) !== 'auth_failed') return fail(context, server, whyNot(server))
    const limitMs = (context.forSeconds ?? USUAL_SECONDS) * 1000
    const how = await signIns.signIn(server.spec, promptOf(context, server), {
      signal: interrupt.signal,
      limitMs,
    })
    await server.session.reconnect().catch(() => undefined)
    await server.settled(interrupt.signal)
    if (stateOf(server) !== 'connected') {
      return fail(context, server, `You are signed in, but the server does not connect: ${whyNot(server)}`)
    }
    return report(context, tapline, server, how)
  } catch (thrown) {
    const message = isTaplineError(thrown) ? thrown.toString() : messageOf(thrown)
    if (interrupt.signal.aborted) return INTERRUPTED
    if (isTaplineError(thrown) && thrown.code !== 'CONFIG_INVALID')
      return fail(context, tapline.server(name), message)
    throw thrown
  } finally {
    stopListening()
    await tapline.close()
  }
}

/** `tapline logout <server>`: deletes what is stored for the server. It connects nothing unless its address needs that. */
export async function signOut(context: CommandContext, name: string): Promise<number> {
  const tapline = await openTapline(context, 'ignore', { attempts: 1 })
  try {
    const { server, signIns } = signInsFor(tapline, name, 'logout')
    const { spec } = server
    // Only connecting fills in the variables of an address.
    if (spec.transport.type === 'streamable-http' && spec.transport.url.includes('${')) await server.settled()
    const removed = await signIns.signOut(spec)
    if (context.json) console.log(JSON.stringify({ server: spec.name, removed }))
    else
      console.log(
        removed
          ? `Signed out of server "${spec.name}". A pi that runs notices with its next request.`
          : `Nobody is signed in to server "${spec.name}".`,
      )
    return 0
  } finally {
    await tapline.close()
  }
}

function signInsFor(
  tapline: Tapline,
  name: string,
  command: 'login' | 'logout',
): { readonly server: Server; readonly signIns: SignIns } {
  const server = serverFor(tapline, name)
  const { signIns } = tapline.services
  if (!signIns) throw new Error('The plugin "oauth" is not loaded: take it out of "disable" in tapline.*.')
  if (signIns.uses(server.spec)) return { server, signIns }
  const { name: known, transport } = server.spec
  const provider = providerOf(transport)
  if (provider !== undefined)
    throw new Error(
      `Server "${known}" uses the sign-in of provider "${provider}": pi auth ${command} ${provider}`,
    )
  throw new Error(
    transport.type === 'streamable-http' && transport.auth
      ? `Server "${known}" has a token of its own: tapline ${command} ${known} --token`
      : `Server "${known}" does not sign in with OAuth. HTTP servers without a credential of their own do.`,
  )
}

/** Standard output is for the outcome; everything else that a person reads on the way is on standard error. */
function promptOf({ env }: CommandContext, { spec }: Server): SignInPrompt {
  return {
    show: (address) => {
      console.error(`Sign in to server "${spec.name}" in your browser:\n${address}`)
      void openBrowser(address, env).then((opened) => {
        if (!opened) console.error('No browser could be opened here: open that address yourself.')
      })
    },
    ...(process.stdin.isTTY ? { paste } : {}),
  }
}

async function paste(signal: AbortSignal, problem: string | undefined): Promise<string | undefined> {
  if (problem !== undefined) console.error(problem)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const question = 'If the browser is on another machine, paste the address that it was sent to: '
    const ended = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)))
    // The terminal takes Ctrl-C for itself.
    terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    return await Promise.race([terminal.question(question, { signal }), ended])
  } finally {
    terminal.close()
  }
}

function report(
  { json }: CommandContext,
  tapline: Tapline,
  { spec }: Server,
  how: 'already' | 'by browser' | 'renewed',
): number {
  const tools = tapline.catalogue.list().tools.filter((tool) => tool.server.name === spec.name).length
  if (json) console.log(JSON.stringify({ server: spec.name, signedIn: how, tools }))
  else if (how === 'already') console.log(`Server "${spec.name}" connects as it is (${count(tools)}).`)
  else console.log(`Signed in to server "${spec.name}" (${count(tools)}).`)
  return 0
}

function count(tools: number): string {
  return `${tools} tool${tools === 1 ? '' : 's'}`
}

function stateOf({ session }: Server): SessionState {
  return session.status.state
}

function whyNot({ session }: Server): string {
  const { reason, attention } = session.status
  return [reason ?? 'it is not connected', ...(attention ? [attention] : [])].join(' ')
}

function fail({ json }: CommandContext, server: Server | undefined, message: string): number {
  if (json) console.log(JSON.stringify({ server: server?.spec.name, error: message }))
  else console.error(message)
  return 1
}
