import { join } from 'node:path'
import type { ConnectRequest, Plugin } from '@tapline/core'
import { unlessAborted } from './aborting.ts'
import type { Account } from './account.ts'
import type { AccountOptions } from './account-options.ts'
import { oauthUrl, rawSettings, resolveSettings } from './settings.ts'
import { createSignIns, type SignIns } from './sign-ins.ts'
import { TokenFile } from './tokens/file.ts'
import { watchSignIns } from './watching.ts'

export type { SignInPrompt } from './sign-in/flow.ts'
export { type Fault, faultOf } from './tokens/safety.ts'
export type { SignedIn, SignInOptions, SignIns } from './sign-ins.ts'

/** A renewal that takes longer goes on beside the first request. */
const LONGEST_HOLD_MS = 10_000

/** Options of the plugin. */
export interface OAuthOptions {
  /** Given what commands sign in and out with. */
  onReady?(signIns: SignIns): void
}

/**
 * Signs in to HTTP servers that have no credential of their own, with OAuth, and shares the tokens with pi in
 * `<agent dir>/mcp-auth.json`. A connection never opens a browser: it says that somebody has to sign in.
 */
export const oauth = ({ onReady }: OAuthOptions = {}): Plugin => ({
  name: 'oauth',
  api: 1,
  setup({ hooks, host, log }) {
    const load = host.oauth
    if (!load) return undefined
    const steps = () => load.call(host)
    const said = new Set<string>()
    const warn = (message: string): void => {
      if (said.has(message)) return
      said.add(message)
      log.warn(message)
    }
    const file = new TokenFile(join(host.paths.agentDir, 'mcp-auth.json'), host.files, warn)
    const accounts = new Map<string, Account>()
    const watching = watchSignIns(host)
    const stop = new AbortController()
    onReady?.(createSignIns({ file, steps, warn, stop: stop.signal, account: (name) => accounts.get(name) }))

    const accountOf = async (request: ConnectRequest, url: string): Promise<Account> => {
      // Where all servers are processes, nothing of this is needed.
      const { Account } = await import('./account.ts')
      const { transport, server } = request
      const { name } = server
      const options: AccountOptions = {
        owner: { name, url },
        file,
        steps,
        settings: () => resolveSettings(rawSettings(transport), request.resolve),
        secret: (value) => void request.secrets?.add(value),
        onNeed: (needed) => watching.need(name, accounts.get(name), needed),
      }
      const known = accounts.get(name)
      if (known?.options.owner.url === url) {
        known.options = options
        return known
      }
      known?.done()
      const account = new Account(options)
      accounts.set(name, account)
      return account
    }

    hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
      const url = oauthUrl(request.transport, request.headers)
      if (url === undefined || !URL.canParse(url)) {
        accounts.get(request.server.name)?.done()
        accounts.delete(request.server.name)
        return undefined
      }
      const { authorizing } = await import('./authorizing.ts')
      const account = await accountOf(request, url)
      request.fetch = authorizing(request.fetch ?? fetch, account, request)
      // The question which protocol a server speaks waits three seconds: too short for a renewal.
      await within(LONGEST_HOLD_MS, account.token(), request.signal)
      return undefined
    })

    return async () => {
      stop.abort()
      watching.close()
      await Promise.all([...accounts.values()].map((account) => account.settled()))
    }
  },
})

/** Resolves when `work` does, and at the latest after `ms` or when `signal` aborts. */
async function within(ms: number, work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(ms)])
  await unlessAborted(work, over).catch(() => undefined)
}
