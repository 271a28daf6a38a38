import type { OAuthChallenge, OAuthClient, OAuthDiscovery } from '@tapline/core'
import type { AccountOptions } from './account-options.ts'
import { configuredClient, documentFor, loopbackOf, mayUseDocument, redirectUrisOf } from './client.ts'
import type { OAuthSettings } from './settings.ts'
import { endOf } from './tokens/expiry.ts'
import { issuerIn, issuerOf, isSendable, sameIssuer, type Stored } from './tokens/stored.ts'

/** What a renewal changes. */
export interface Renewable {
  readonly options: AccountOptions
  readonly challenge: OAuthChallenge | undefined
  stored(): Promise<Stored | undefined>
}

/** Why an authorization server will never renew these tokens: what it no longer knows. */
const LOST_CLIENT = /^(?:invalid_client|unauthorized_client)$/

/**
 * Renews the tokens of an account while no other process does. Answers the token that is valid now, or undefined when
 * only the person can help. It cannot be cancelled: an answer that came must be kept.
 */
export async function renewOnce(account: Renewable, stale: string | undefined): Promise<string | undefined> {
  const { file, owner } = account.options
  return file.renewing(owner, async () => {
    const stored = await account.stored()
    const current = stored?.tokens?.access_token
    if (stored === undefined || current !== stale) return current
    const refreshToken = stored.tokens?.refresh_token
    if (refreshToken === undefined) return undefined
    const settings = await account.options.settings()
    if (settings.clientSecret !== undefined) account.options.secret(settings.clientSecret)
    return renewStored(account, stored, refreshToken, settings)
  })
}

async function renewStored(
  account: Renewable,
  stored: Stored,
  refreshToken: string,
  settings: OAuthSettings,
): Promise<string | undefined> {
  const { owner } = account.options
  const steps = await account.options.steps()
  const metadataUrl = settings.authServerMetadataUrl
  const request = { serverUrl: owner.url, metadataUrl }
  const discovery = await knownDiscovery(account, stored, settings)
  // A refresh token goes to nobody but who gave it.
  const issuer = issuerOf(stored)
  if (issuer !== undefined && !sameIssuer(issuer, issuerIn(discovery))) return undefined
  const client = clientOf(owner.url, stored, discovery, settings)
  if (client === undefined) return undefined
  try {
    const resource = steps.resourceOf(owner.url, discovery)
    const tokens = await steps.refresh(discovery, refreshToken, { ...request, client, resource })
    account.options.secret(tokens.access_token)
    if (tokens.refresh_token !== undefined) account.options.secret(tokens.refresh_token)
    if (!isSendable(tokens.access_token)) return undefined
    const scope = tokens.scope ?? stored.tokens?.scope
    const { tokensExpireAt: _old, ...rest } = stored
    const next: Stored = {
      ...rest,
      ...(metadataUrl === undefined ? { discovery } : {}),
      tokens: { ...tokens, ...(scope === undefined ? {} : { scope }), issuer: issuerIn(discovery) },
      ...endOf(tokens),
    }
    return await keep(account, refreshToken, next)
  } catch (thrown) {
    const code = oauthCode(thrown)
    if (code === undefined || isTransient(thrown)) throw thrown
    if (LOST_CLIENT.test(code)) return replace(account, refreshToken, withoutClient(client))
    if (code === 'invalid_grant') return replace(account, refreshToken, withoutTokens)
    throw thrown
  }
}

/** The old refresh token may be worth nothing now: that the new one could not be stored must be known. */
async function keep(account: Renewable, refreshToken: string, next: Stored): Promise<string | undefined> {
  try {
    return await replace(account, refreshToken, () => next)
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    throw new Error(`the new tokens could not be stored in ${account.options.file.path}: ${reason}`, {
      cause: thrown,
    })
  }
}

/** Compare and change: what somebody else has put there meanwhile, or taken away, is left as it is. */
async function replace(
  account: Renewable,
  refreshToken: string,
  change: (stored: Stored) => Stored,
): Promise<string | undefined> {
  const { file, owner } = account.options
  const stored = await file.change(owner, (now) =>
    now?.tokens?.refresh_token === refreshToken ? change(now) : now,
  )
  return stored?.tokens?.access_token
}

function withoutTokens({ tokens: _tokens, tokensExpireAt: _end, ...stored }: Stored): Stored {
  return stored
}

/** Another client that was registered meanwhile is not the one that was refused. */
function withoutClient({ client_id: refused }: OAuthClient): (stored: Stored) => Stored {
  return (stored) => {
    const { clientInformation, discovery: _discovery, ...rest } = withoutTokens(stored)
    return clientInformation === undefined || clientInformation.client_id === refused
      ? rest
      : { ...rest, clientInformation }
  }
}

/** Where the tokens are from, as it was found out; where the person configured it, as the document says now. */
async function knownDiscovery(
  account: Renewable,
  stored: Stored,
  { authServerMetadataUrl: metadataUrl }: OAuthSettings,
): Promise<OAuthDiscovery> {
  const { discovery } = stored
  if (metadataUrl === undefined && discovery?.authorizationServerMetadata) return discovery
  const steps = await account.options.steps()
  return steps.discover({
    serverUrl: account.options.owner.url,
    metadataUrl,
    resourceMetadataUrl: account.challenge?.resourceMetadataUrl ?? discovery?.resourceMetadataUrl,
  })
}

/** Who the tokens were given to. Those without a client of their own were given to a document. */
function clientOf(
  serverUrl: string,
  stored: Stored,
  { authorizationServerMetadata }: OAuthDiscovery,
  settings: OAuthSettings,
): OAuthClient | undefined {
  const known = configuredClient(settings) ?? stored.clientInformation
  if (known !== undefined) return known
  const { url, fixed } = loopbackOf(settings)
  const redirectUrl =
    [fixed, ...redirectUrisOf(stored.clientInformation), url].find((each) => each !== undefined) ?? url
  if (!mayUseDocument(settings, redirectUrl)) return undefined
  return documentFor(serverUrl, redirectUrl, authorizationServerMetadata)?.client
}

/** The error code of an authorization server that answered one. */
function oauthCode(thrown: unknown): string | undefined {
  const code = dataOf(thrown).oauth
  return typeof code === 'string' ? code : undefined
}

/** Whether trying again may help. */
export function isTransient(thrown: unknown): boolean {
  return dataOf(thrown).transient === true
}

function dataOf(thrown: unknown): Readonly<Record<string, unknown>> {
  return (thrown as { readonly data?: Readonly<Record<string, unknown>> } | null)?.data ?? {}
}
