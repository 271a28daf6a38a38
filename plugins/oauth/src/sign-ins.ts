import type { OAuthSteps, ServerSpec } from '@tapline/core'
import { unlessAborted } from './aborting.ts'
import type { Account } from './account.ts'
import { oauthUrl } from './settings.ts'
import type { SignInPrompt } from './sign-in/flow.ts'
import type { Owner, TokenFile } from './tokens/file.ts'

/** A sign-in that nobody completes ends after this long. */
const LIMIT_MS = 5 * 60_000

/** How a person came to be signed in: `renewed` took no browser. */
export type SignedIn = 'by browser' | 'renewed'

/** What commands do with sign-ins. */
export interface SignIns {
  /** Whether a server signs in with OAuth: it is reached over HTTP and has no credential of its own. */
  uses(server: ServerSpec): boolean
  /** Whether tokens of this server are stored; whether it takes them is for the server to say. Never rejects. */
  isSignedIn(server: ServerSpec): Promise<boolean>
  /**
   * Signs in to a server that has been tried to connect, so that its address is known and what it wants. It has to be
   * reconnected afterwards. Rejects with a TaplineError: CANCELLED when the person gave up or `signal` aborted.
   */
  signIn(server: ServerSpec, prompt: SignInPrompt, options: SignInOptions): Promise<SignedIn>
  /** Deletes what is stored for a server. Answers whether there was anything. Rejects with a sentence. */
  signOut(server: ServerSpec): Promise<boolean>
}

/** Options of {@link SignIns.signIn}. */
export interface SignInOptions {
  readonly signal: AbortSignal
  /** Milliseconds; five minutes when absent. */
  readonly limitMs?: number
}

/** What the commands stand on. */
export interface SignInsOptions {
  readonly file: TokenFile
  /** Of a server that has been tried to connect. */
  account(name: string): Account | undefined
  steps(): Promise<OAuthSteps>
  warn(message: string): void
  /** Aborts when the plugin ends. */
  readonly stop: AbortSignal
}

export function createSignIns(options: SignInsOptions): SignIns {
  const { file, account, stop, warn } = options
  return {
    uses: ({ transport }) => oauthUrl(transport) !== undefined,
    isSignedIn: async (server) => {
      try {
        return (await file.read(ownerOf(server, account(server.name))))?.tokens !== undefined
      } catch {
        // Nobody can be signed in where there is no such thing, or no address yet.
        return false
      }
    },
    signIn: async (server, prompt, { signal, limitMs = LIMIT_MS }) => {
      const steps = await options.steps()
      const known = account(server.name)
      if (!known) {
        throw steps.error(
          'NOT_CONNECTED',
          `Server "${server.name}" has not been tried yet, or does not sign in with OAuth.`,
          {
            advice: `Reconnect it first: /mcp reconnect ${server.name}`,
          },
        )
      }
      const limit = AbortSignal.timeout(Math.min(limitMs, 2_147_483_647))
      const either = AbortSignal.any([signal, stop, limit])
      try {
        const how = await signInTo(known, steps, prompt, either)
        if (isReadable(known.options.owner.url))
          warn(
            `server "${server.name}" is plain http to another machine: anyone on the way can read its token; use https.`,
          )
        return how
      } catch (thrown) {
        if (signal.aborted || stop.aborted) throw steps.error('CANCELLED', 'The sign-in was cancelled.')
        if (limit.aborted) {
          const message = `The sign-in was not completed within ${limitMs / 1000} s.`
          throw steps.error('AUTH_FAILED', message, { advice: 'Begin again when you are at the browser.' })
        }
        if ((thrown as { readonly name?: unknown }).name === 'TaplineError') throw thrown
        throw steps.error('AUTH_FAILED', thrown instanceof Error ? thrown.message : String(thrown), {
          advice: 'Put that right, then sign in again.',
          cause: thrown,
        })
      }
    },
    signOut: async (server) => {
      const owner = ownerOf(server, account(server.name))
      const removed = await file.remove(owner)
      const known = account(server.name)
      if (known) known.challenge = undefined
      return removed
    },
  }
}

async function signInTo(
  account: Account,
  steps: OAuthSteps,
  prompt: SignInPrompt,
  signal: AbortSignal,
): Promise<SignedIn> {
  const { file } = account.options
  file.check()
  const settings = await account.options.settings()
  if (settings.clientSecret !== undefined) account.options.secret(settings.clientSecret)
  const stored = await account.stored()
  const token = stored?.tokens?.access_token
  // Renewing keeps the scope, the client and whatever the server did not like about the last renewal.
  const renewable =
    token !== undefined &&
    account.challenge?.error !== 'insufficient_scope' &&
    token !== account.hopeless &&
    (settings.clientRegistration !== 'cimd' || stored?.clientInformation === undefined)
  if (renewable) {
    const renewed = await unlessAborted(
      account.renew(token).catch(() => undefined),
      signal,
    )
    if (renewed !== undefined && renewed !== token) {
      account.done()
      return 'renewed'
    }
  }
  // Most sessions never need it.
  const { signInByBrowser } = await import('./sign-in/flow.ts')
  await signInByBrowser(account, steps, settings, prompt, signal)
  account.done()
  return 'by browser'
}

/** Whether others can read what is sent there. */
function isReadable(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'http:' && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

function ownerOf({ name, transport }: ServerSpec, account: Account | undefined): Owner {
  if (account) return account.options.owner
  const url = oauthUrl(transport)
  if (url === undefined) throw new Error(`Server "${name}" does not sign in with OAuth.`)
  if (url.includes('${') || !URL.canParse(url))
    throw new Error(`The address of server "${name}" holds variables: connect it first, then sign out.`)
  return { name, url }
}
