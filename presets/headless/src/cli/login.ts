import type { CommandContext } from './command.ts'
import { signIn } from './sign-in.ts'
import { storeToken } from './token.ts'

const USAGE =
  'Usage: tapline login <server> [--for SECONDS]   or: tapline login <server> --token   (read from standard input)'

/** `tapline login <server>` in a browser, or with `--token`. */
export async function login(context: CommandContext): Promise<number> {
  const [server, ...rest] = context.args
  if (server === undefined || rest.length > 0) throw new Error(USAGE)
  return context.token ? storeToken(context, server) : signIn(context, server)
}
