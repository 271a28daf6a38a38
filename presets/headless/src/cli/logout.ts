import type { CommandContext } from './command.ts'
import { signOut } from './sign-in.ts'
import { removeToken } from './token.ts'

const USAGE = 'Usage: tapline logout <server> [--token]'

/** `tapline logout <server>`, of a sign-in or with `--token`. */
export async function logout(context: CommandContext): Promise<number> {
  const [server, ...rest] = context.args
  if (server === undefined || rest.length > 0) throw new Error(USAGE)
  return context.token ? removeToken(context, server) : signOut(context, server)
}
