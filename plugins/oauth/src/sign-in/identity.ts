import type { OAuthClient, OAuthDiscovery, OAuthRequest, OAuthSteps } from '@tapline/core'
import {
  CLIENT_NAME,
  configuredClient,
  documentFor,
  isListed,
  mayUseDocument,
  redirectUrisOf,
} from '../client.ts'
import { type OAuthSettings, scopesOf } from '../settings.ts'
import { issuerIn, issuerOf, sameIssuer, type Stored } from '../tokens/stored.ts'

/** Who asks a person to sign in, and where the answer goes. */
export interface Identity {
  readonly client: OAuthClient
  readonly redirectUrl: string
  /** Whether the client is stored with the tokens: not one of the entry, nor a published document. */
  readonly kept: boolean
}

/** What choosing an identity needs. */
export interface IdentityOptions {
  readonly steps: OAuthSteps
  readonly request: OAuthRequest
  readonly settings: OAuthSettings
  readonly discovery: OAuthDiscovery
  readonly stored: Stored | undefined
  readonly redirectUrl: string
  readonly scope: string | undefined
}

/** The client of the entry, else the one that was registered before, else a document, else a new registration. */
export async function identify(options: IdentityOptions): Promise<Identity> {
  const { steps, request, settings, discovery, redirectUrl, scope } = options
  const configured = configuredClient(settings)
  if (configured) return { client: configured, redirectUrl, kept: false }
  const registered = usableClient(options)
  if (registered) return { client: registered, redirectUrl, kept: true }
  if (mayUseDocument(settings, redirectUrl)) {
    const document = isListed(redirectUrl)
      ? documentFor(request.serverUrl, redirectUrl, discovery.authorizationServerMetadata)
      : undefined
    if (document) return { ...document, kept: false }
    if (settings.clientRegistration === 'cimd') {
      const message = 'The authorization server does not take Client ID Metadata Documents of public clients.'
      throw steps.error('AUTH_FAILED', message, {
        advice: 'Take "clientRegistration": "cimd" out of the entry’s "oauth".',
      })
    }
  }
  const client = await steps.register(
    discovery,
    {
      client_name: settings.clientName ?? CLIENT_NAME,
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: settings.clientSecret === undefined ? 'none' : 'client_secret_post',
    },
    { ...request, scope },
  )
  return { client: { ...client, issuer: issuerIn(discovery) }, redirectUrl, kept: true }
}

/** Not one for another address, at another authorization server, for fewer scopes, or whose secret has expired. */
function usableClient({
  settings,
  discovery,
  stored,
  redirectUrl,
  scope,
}: IdentityOptions): OAuthClient | undefined {
  const client = stored?.clientInformation
  if (stored === undefined || client === undefined || settings.clientRegistration === 'cimd') return undefined
  if (!redirectUrisOf(client).includes(redirectUrl)) return undefined
  const issuer = typeof client.issuer === 'string' ? client.issuer : issuerOf(stored)
  if (issuer !== undefined && !sameIssuer(issuer, issuerIn(discovery))) return undefined
  const { client_secret_expires_at: end, scope: registered } = client
  // Some authorization servers hold a client to the scopes that it registered with.
  if (typeof registered === 'string' && scopesOf(registered, scope) !== scopesOf(registered)) return undefined
  return typeof end === 'number' && end !== 0 && end * 1000 <= Date.now() ? undefined : client
}
