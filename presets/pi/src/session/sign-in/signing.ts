import { isTaplineError, messageOf } from '@tapline/core'
import type { Server } from '@tapline/headless'
import type { SignInPrompt } from '@tapline/oauth'
import type { CommandScope } from '../commands/command.ts'
import { count } from '../servers/words.ts'

type SignInScope = Pick<CommandScope, 'tapline' | 'toolbox'>

/** What {@link signIn} rejects with when the person gave up. */
export const CANCELLED = 'Sign-in cancelled.'

/** Signs in and connects. Answers what a person is told; rejects with a sentence, {@link CANCELLED} when they gave up. */
export async function signIn(
  server: Server,
  { tapline, toolbox }: SignInScope,
  prompt: SignInPrompt,
  signal: AbortSignal,
): Promise<string> {
  const { name } = server.spec
  const { signIns } = tapline.services
  try {
    // What the server answers to somebody who has not signed in says where to sign in.
    if (server.session.status.state !== 'connected') await server.settled(signal)
    await signIns?.signIn(server.spec, prompt, { signal })
    await server.session.reconnect()
    await server.settled()
  } catch (thrown) {
    if (signal.aborted || (isTaplineError(thrown) && thrown.code === 'CANCELLED'))
      throw new Error(CANCELLED, { cause: thrown })
    const message = isTaplineError(thrown) ? thrown.toString() : messageOf(thrown)
    throw new Error(`Sign-in to MCP server "${name}" failed: ${message}`, { cause: thrown })
  }
  await toolbox.applyNow()
  return `Signed in to MCP server "${name}" (${count(toolbox.toolsOf(name).length, 'tool')}).`
}

/** Deletes what is stored for the server, here and for pi. Answers what a person is told; rejects with a sentence. */
export async function signOut(server: Server, { tapline, toolbox }: SignInScope): Promise<string> {
  const { name, enabled } = server.spec
  try {
    const removed = await tapline.services.signIns?.signOut(server.spec)
    // It shows at once what works without a sign-in: mostly nothing.
    if (removed && enabled) await server.session.reconnect().catch(() => undefined)
    toolbox.changed()
    return removed ? `Signed out of MCP server "${name}".` : `No stored credentials for MCP server "${name}".`
  } catch (thrown) {
    throw new Error(`Sign-out of MCP server "${name}" failed: ${messageOf(thrown)}`, { cause: thrown })
  }
}
