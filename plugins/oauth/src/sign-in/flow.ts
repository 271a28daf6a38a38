import type { OAuthDiscovery, OAuthSteps, OAuthTokens } from '@tapline/core'
import type { Account } from '../account.ts'
import { loopbackOf, mayUseDocument, ownPath, redirectUrisOf, withPort } from '../client.ts'
import { type OAuthSettings, scopesOf } from '../settings.ts'
import { endOf } from '../tokens/expiry.ts'
import { issuerIn, isSendable, type Stored } from '../tokens/stored.ts'
import { type Callback, listen } from './callback.ts'
import { type Identity, identify } from './identity.ts'
import { isUnusable, readPasted, type Redirected } from './redirected.ts'

/** How a person is asked to sign in. */
export interface SignInPrompt {
  /** Shows the address, and opens it in a browser where there is one. It is https, or of this machine. */
  show(address: string): void
  /**
   * Asks for the address that the browser was sent to, for when the browser is on another machine. `signal` aborts
   * when it is not needed any more; `problem` says what was wrong with the last one. Undefined: the person gave up.
   */
  paste?(signal: AbortSignal, problem: string | undefined): Promise<string | undefined>
}

/** Signs in by way of a browser and stores what came of it. Everything stops when `signal` aborts. */
export async function signInByBrowser(
  account: Account,
  steps: OAuthSteps,
  settings: OAuthSettings,
  prompt: SignInPrompt,
  signal: AbortSignal,
): Promise<void> {
  const { owner, file } = account.options
  const { challenge } = account
  const stored = await account.stored()
  const loopback = loopbackOf(settings)
  const callback = await listenFor(account, steps, settings, stored)
  try {
    const address = loopback.fixed ?? withPort(loopback.url, callback.port)
    const request = { serverUrl: owner.url, metadataUrl: settings.authServerMetadataUrl, signal }
    const discovery = await steps.discover({
      ...request,
      resourceMetadataUrl: challenge?.resourceMetadataUrl ?? stored?.discovery?.resourceMetadataUrl,
    })
    const resource = steps.resourceOf(owner.url, discovery)
    const scope = scopeFor(settings, discovery, stored, challenge)
    const who = await identify({ steps, request, settings, discovery, stored, redirectUrl: address, scope })
    await keepClient(account, who, stored)
    const { client, redirectUrl } = who
    const state = crypto.randomUUID() + crypto.randomUUID()
    const grant = { ...request, client, resource }
    const { url, verifier } = await steps.authorize(discovery, { ...grant, redirectUrl, state, scope })
    signal.throwIfAborted()
    prompt.show(url)
    const answer = await answerOf(callback, prompt, { redirectUrl, state }, steps, signal)
    // Before anything else that the answer says is believed, or shown.
    steps.checkIssuer(discovery, answer.iss)
    if ('error' in answer) throw declined(steps, answer)
    const code = { code: answer.code, iss: answer.iss, verifier, redirectUrl }
    const tokens = await steps.exchange(discovery, code, grant)
    if (!isSendable(tokens.access_token))
      throw steps.error('AUTH_FAILED', 'The authorization server gave a token that no request can carry.')
    await file.change(owner, (now) => storedAfter(now, { owner, who, tokens, scope, discovery, settings }))
    account.challenge = undefined
    account.hopeless = undefined
  } finally {
    await callback.close()
  }
}

/** On the configured port, else on the one that the stored client was registered with, else on a free one. */
async function listenFor(
  account: Account,
  steps: OAuthSteps,
  settings: OAuthSettings,
  stored: Stored | undefined,
): Promise<Callback> {
  const { host, port, path, url } = loopbackOf(settings)
  const own = mayUseDocument(settings, url) ? [ownPath(path, account.options.owner.url)] : []
  const place = { host, paths: [path, ...own] }
  const earlier = Number(URL.parse(redirectUrisOf(stored?.clientInformation)[0] ?? '')?.port ?? 0)
  try {
    return await listen({ ...place, port: port ?? earlier })
  } catch (thrown) {
    if (port === undefined && earlier !== 0) return listen({ ...place, port: 0 })
    const { code = 'it cannot be had' } = thrown as { readonly code?: string }
    const why = code === 'EADDRINUSE' ? 'another program has that port' : code
    throw steps.error(
      'AUTH_FAILED',
      `The answer cannot be waited for on ${host}${port === undefined ? '' : `:${port}`}: ${why}.`,
      {
        advice: 'End that program, or change "callbackPort" or "callbackUrl" in the entry’s "oauth".',
      },
    )
  }
}

/**
 * What the entry says, and what the server asked for last; when it wants more, on top of what was granted before, since
 * it may name only what is missing. Else what the server advertises, with leave to renew where that has a scope.
 */
function scopeFor(
  settings: OAuthSettings,
  { resourceMetadata, authorizationServerMetadata }: OAuthDiscovery,
  stored: Stored | undefined,
  challenge: Account['challenge'],
): string | undefined {
  const more = challenge?.error === 'insufficient_scope' && challenge.scope !== undefined
  const demanded = more ? scopesOf(stored?.tokens?.scope, challenge.scope) : challenge?.scope
  const scope = scopesOf(settings.scope, demanded) ?? scopesOf(...(resourceMetadata?.scopes_supported ?? []))
  const renewable = authorizationServerMetadata?.scopes_supported?.includes('offline_access') === true
  return scope !== undefined && settings.scope === undefined && renewable
    ? scopesOf(scope, 'offline_access')
    : scope
}

/** A new client is kept at once, unless older tokens still need theirs: a sign-in that is given up need not register again. */
async function keepClient(
  account: Account,
  { client, kept }: Identity,
  stored: Stored | undefined,
): Promise<void> {
  if (!kept || stored?.tokens !== undefined || client === stored?.clientInformation) return
  const { file, owner } = account.options
  await file.change(owner, (now) =>
    now?.tokens === undefined
      ? { ...now, serverUrl: new URL(owner.url).href, clientInformation: client }
      : now,
  )
}

async function answerOf(
  callback: Callback,
  prompt: SignInPrompt,
  expected: { readonly redirectUrl: string; readonly state: string },
  steps: OAuthSteps,
  signal: AbortSignal,
): Promise<Redirected> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const ways = [
    callback.wait(expected, either),
    ...(prompt.paste ? [pasted(prompt, expected, steps, either)] : []),
  ]
  // Whichever loses is rejected when it is told to stop.
  for (const way of ways) way.catch(() => undefined)
  try {
    return await Promise.race(ways)
  } finally {
    over.abort()
  }
}

async function pasted(
  { paste }: SignInPrompt,
  expected: { readonly redirectUrl: string; readonly state: string },
  steps: OAuthSteps,
  signal: AbortSignal,
): Promise<Redirected> {
  for (let problem: string | undefined; ;) {
    const text = await paste?.(signal, problem)
    signal.throwIfAborted()
    if (text === undefined) throw steps.error('CANCELLED', 'The sign-in was cancelled.')
    const answer = readPasted(text, expected)
    if (!isUnusable(answer)) return answer
    problem = answer.problem
  }
}

function declined(
  steps: OAuthSteps,
  answer: { readonly error: string; readonly description?: string },
): Error {
  const said = answer.description === undefined ? '' : `: ${steps.quote(answer.description, 300)}`
  const message = `The authorization server did not sign you in (${steps.quote(answer.error, 60)}${said}).`
  return steps.error('AUTH_FAILED', message, {
    advice: 'Begin again, and approve the request, or ask whoever runs the server.',
  })
}

/** Everything that belongs together is written together; what a sign-in of pi's own left half done goes. */
function storedAfter(
  now: Stored | undefined,
  after: {
    readonly owner: { readonly url: string }
    readonly who: Identity
    readonly tokens: OAuthTokens
    readonly scope: string | undefined
    readonly discovery: OAuthDiscovery
    readonly settings: OAuthSettings
  },
): Stored {
  const { owner, who, tokens, discovery, settings } = after
  const {
    clientInformation: _c,
    tokensExpireAt: _t,
    discovery: _d,
    codeVerifier: _v,
    oauthState: _o,
    ...others
  }: Partial<Stored> = now ?? {}
  // An answer without a scope grants the one that was asked for (RFC 6749, section 5.1).
  const scope = tokens.scope ?? after.scope
  return {
    ...others,
    serverUrl: new URL(owner.url).href,
    ...(who.kept ? { clientInformation: who.client } : {}),
    tokens: { ...tokens, ...(scope === undefined ? {} : { scope }), issuer: issuerIn(discovery) },
    ...endOf(tokens),
    // Where the person configured it, it is looked up each time, so that a change of the entry holds at once.
    ...(settings.authServerMetadataUrl === undefined ? { discovery } : {}),
  }
}
