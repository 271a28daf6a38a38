import { messageOf } from '@tapline/core'
import { KeychainError, refusalOf, systemKeychain, type SystemKeychain, unsendable } from '@tapline/keychain'
import { storeInPi, removeFromPi } from '../state/auth-file.ts'
import { isModelProvider } from '../state/model-providers.ts'
import { serverFor } from './call.ts'
import { type CommandContext, openTapline } from './command.ts'
import { readSecret } from './secret-input.ts'

const INTERRUPTED = 130

/**
 * `tapline login <server> --token`: stores the token that the server's entry names by reference, read from standard
 * input, in the operating system's keychain, or where there is none in pi's credential store; says which.
 */
export async function storeToken(context: CommandContext, server: string): Promise<number> {
  const { name, ref } = await namedCredential(context, server)
  const source = { input: process.stdin, output: process.stderr }
  const secret = await readSecret(`Token for server "${name}" (it is not shown): `, source)
  if (secret === undefined) return INTERRUPTED
  const token = secret.trim()
  if (token === '') throw new Error('Standard input holds no token; nothing was stored.')
  const fault = unsendable(token)
  if (fault !== undefined) throw new Error(`The token cannot be sent: ${fault}. Nothing was stored.`)

  const keychain = systemKeychain(context.env)
  const { store, path, instead } = await keep(context, keychain, ref, token)
  if (context.json) {
    console.log(
      JSON.stringify({
        server: name,
        stored: store,
        ...(path ? { path } : {}),
        ...(instead ? { instead } : {}),
      }),
    )
  } else if (path === undefined) {
    console.log(`Stored the token of server "${name}" in ${store}.`)
  } else {
    console.log(`Stored the token of server "${name}" in ${store}, as plain text in ${path}.`)
    console.log(`${capitalised(keychain.label)} was not used: ${instead}.`)
  }
  if (!context.json) console.log(`A pi that runs takes it up with: /mcp reconnect ${name}`)
  return 0
}

/** `tapline logout <server> --token`: removes that token from the keychain and from pi's credential store. */
export async function removeToken(context: CommandContext, server: string): Promise<number> {
  const { name, ref } = await namedCredential(context, server)
  const { agentDir } = context.paths
  const keychain = systemKeychain(context.env)
  const removed: string[] = []
  let unreachable: string | undefined
  try {
    if (await keychain.remove(ref)) removed.push(keychain.label)
  } catch (thrown) {
    unreachable = `${capitalised(keychain.label)} was not looked into: ${messageOf(thrown)}.`
  }
  if (await removeFromPi(agentDir, ref)) removed.push(PI_STORE)
  const inEnvironment = Boolean(context.env[ref])
  if (context.json) {
    console.log(
      JSON.stringify({ server: name, removed, ...(unreachable ? { unreachable } : {}), inEnvironment }),
    )
  } else {
    console.log(
      removed.length > 0
        ? `Removed the token of server "${name}" from ${removed.join(' and ')}.`
        : `No token of server "${name}" was stored.`,
    )
    if (unreachable !== undefined) console.error(unreachable)
    if (inEnvironment)
      console.error('The environment still has one: remove the variable that the entry names.')
  }
  return 0
}

const PI_STORE = 'pi’s credential store'

interface Kept {
  readonly store: string
  /** The file that holds it, where it is no keychain. */
  readonly path?: string
  /** Why it is not in the keychain. */
  readonly instead?: string
}

async function keep(
  { paths }: CommandContext,
  keychain: SystemKeychain,
  ref: string,
  token: string,
): Promise<Kept> {
  try {
    await keychain.store(ref, token)
    return { store: keychain.label }
  } catch (thrown) {
    const failure = thrown instanceof KeychainError ? thrown.failure : undefined
    // One that is only closed now may hold an earlier token, which would be found before a new one elsewhere.
    if (failure !== 'absent' && failure !== 'too long') {
      throw new Error(
        `Nothing was stored. ${capitalised(keychain.label)}: ${messageOf(thrown)}. Unlock it, then try again.`,
        { cause: thrown },
      )
    }
    if (failure === 'too long') await keychain.remove(ref)
    return { store: PI_STORE, path: await storeInPi(paths.agentDir, ref, token), instead: messageOf(thrown) }
  }
}

/** The reference of a server's entry. Throws a sentence, without the reference, when it may not be used. */
async function namedCredential(
  context: CommandContext,
  server: string,
): Promise<{ readonly name: string; readonly ref: string }> {
  const tapline = await openTapline(context, 'ignore', { attempts: 1 })
  try {
    const { spec } = serverFor(tapline, server)
    const { transport, source, name } = spec
    if (transport.type !== 'streamable-http' || transport.auth?.kind !== 'bearer') {
      throw new Error(
        `Server "${name}" names no credential: give its entry in mcp.toml auth = { kind = "bearer", token_keychain_ref = "PI_MCP_TOKEN_…" } first.`,
      )
    }
    const { ref } = transport.auth
    const refusal = refusalOf(ref, source.scope, {
      isModelProvider: (provider) => isModelProvider(context.paths.agentDir, provider),
    })
    if (refusal)
      throw new Error(`The credential of server "${name}" is refused: ${refusal.reason}. ${refusal.advice}`)
    return { name, ref }
  } finally {
    await tapline.close()
  }
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
