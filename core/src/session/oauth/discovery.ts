import { isTaplineError, TaplineError } from '../../errors.ts'
import { cleanText } from '../../text.ts'
import type {
  AuthorizationServerMetadata,
  OAuthDiscovery,
  OAuthRequest,
  ProtectedResourceMetadata,
} from '../../types/index.ts'
import { fetchFor, type OAuthFetch } from './fetch.ts'

type SdkModule = typeof import('@modelcontextprotocol/client')

/** Who signs people in for a server: by its own metadata, or by the document that the person configured. */
export async function discover(
  module: SdkModule,
  request: OAuthRequest & { readonly resourceMetadataUrl?: string | undefined },
): Promise<OAuthDiscovery> {
  const fetch = fetchFor(request)
  const { serverUrl, metadataUrl, resourceMetadataUrl } = request
  const resourceMetadata = await resourceOf(module, serverUrl, resourceMetadataUrl, fetch)
  const found = {
    ...(resourceMetadata ? { resourceMetadata } : {}),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  }
  if (metadataUrl !== undefined) {
    const metadata = await configured(module, metadataUrl, fetch)
    return { authorizationServerUrl: metadata.issuer, authorizationServerMetadata: metadata, ...found }
  }
  const issuer = resourceMetadata?.authorization_servers?.[0] ?? String(new URL('/', serverUrl))
  const metadata = await serverMetadata(module, issuer, fetch)
  return {
    authorizationServerUrl: issuer,
    ...(metadata ? { authorizationServerMetadata: metadata } : {}),
    ...found,
  }
}

/** The server's own metadata. Many servers have none, and some have what cannot be used: both count as none. */
async function resourceOf(
  module: SdkModule,
  serverUrl: string,
  resourceMetadataUrl: string | undefined,
  fetch: OAuthFetch,
): Promise<ProtectedResourceMetadata | undefined> {
  try {
    return await module.discoverOAuthProtectedResourceMetadata(
      serverUrl,
      resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl },
      fetch,
    )
  } catch (thrown) {
    if (isTaplineError(thrown)) throw thrown
    return undefined
  }
}

/** The document at the usual places for this issuer, if there is one. */
async function serverMetadata(
  module: SdkModule,
  issuer: string,
  fetch: OAuthFetch,
): Promise<AuthorizationServerMetadata | undefined> {
  let unusable: TaplineError | undefined
  if (!URL.canParse(issuer)) throw lies(issuer, 'which is no address')
  for (const { url } of module.buildDiscoveryUrls(issuer)) {
    const response = await get(url, fetch)
    const { status } = response
    if (!response.ok) {
      // 5xx says nothing about whether there is one; 502 is what proxies answer for a path that leads nowhere.
      if (status < 500 || status === 502) continue
      throw new TaplineError('CONNECT_FAILED', `${url.origin} answered HTTP ${status} for its metadata.`, {
        data: { transient: true },
      })
    }
    const metadata = await parsed(module, url, response)
    // Some servers answer every path with a page.
    if (metadata === undefined) {
      unusable ??= notUsable(url)
      continue
    }
    if (trimmed(metadata.issuer) !== trimmed(issuer))
      throw lies(issuer, `whose metadata calls it ${cleanText(metadata.issuer, 200)}`)
    return metadata
  }
  if (unusable) throw unusable
  return undefined
}

async function configured(
  module: SdkModule,
  address: string,
  fetch: OAuthFetch,
): Promise<AuthorizationServerMetadata> {
  const url = new URL(address)
  const response = await get(url, fetch)
  if (!response.ok) {
    const message = `The "authServerMetadataUrl" of the entry answers HTTP ${response.status}.`
    throw new TaplineError(response.status < 500 ? 'AUTH_FAILED' : 'CONNECT_FAILED', message, {
      advice: 'Fix the address in the entry, then sign in again.',
      ...(response.status < 500 ? {} : { data: { transient: true } }),
    })
  }
  const metadata = await parsed(module, url, response)
  if (metadata === undefined) throw notUsable(url)
  return metadata
}

function get(url: URL, fetch: OAuthFetch): Promise<Response> {
  return fetch(url, { headers: { accept: 'application/json' } })
}

async function parsed(
  module: SdkModule,
  url: URL,
  response: Response,
): Promise<AuthorizationServerMetadata | undefined> {
  try {
    const metadata = await module.discoverAuthorizationServerMetadata(url.origin, {
      fetchFn: async () => response,
      skipIssuerValidation: true,
    })
    return metadata && URL.canParse(metadata.issuer) ? metadata : undefined
  } catch {
    return undefined
  }
}

function trimmed(issuer: string): string {
  return issuer.endsWith('/') ? issuer.slice(0, -1) : issuer
}

function lies(issuer: string, how: string): TaplineError {
  const message = `The server sends sign-ins to ${cleanText(issuer, 200)}, ${how}.`
  return new TaplineError('AUTH_FAILED', message, {
    advice: 'If you know the right one, set "authServerMetadataUrl" in the entry’s "oauth" to its metadata.',
  })
}

function notUsable({ origin, pathname }: URL): TaplineError {
  return new TaplineError(
    'AUTH_FAILED',
    `The metadata at ${origin}${cleanText(pathname, 100)} is not usable.`,
    {
      advice: 'If you know the right document, set "authServerMetadataUrl" in the entry’s "oauth" to it.',
    },
  )
}
