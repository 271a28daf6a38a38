import type { OAuthClient, OAuthDiscovery, OAuthTokens } from '@tapline/core'

/** What is stored for one server, in pi's shape. `issuer` is ours: pi keeps it and does not read it. */
export interface Stored {
  readonly serverUrl: string
  readonly clientInformation?: OAuthClient & { readonly issuer?: unknown }
  readonly tokens?: OAuthTokens & { readonly issuer?: unknown }
  /** Milliseconds since 1970. */
  readonly tokensExpireAt?: number
  readonly discovery?: OAuthDiscovery
  /** For example what a sign-in of pi's own that is under way needs. */
  readonly [field: string]: unknown
}

/** What an HTTP header can carry. */
const SENDABLE = /^[\u0021-\u007E]+$/

/** Whether an access token can be sent. */
export function isSendable(token: string): boolean {
  return SENDABLE.test(token)
}

/** What of a stored entry can be used for this server: what another program wrote wrongly counts as not there. */
export function usable(entry: unknown, serverUrl: string): Stored | undefined {
  if (!isRecord(entry) || entry.serverUrl !== serverUrl) return undefined
  const { clientInformation, tokens, tokensExpireAt, discovery, ...others } = entry
  return {
    ...others,
    serverUrl,
    ...(isClient(clientInformation) ? { clientInformation } : {}),
    ...(isTokens(tokens) ? { tokens } : {}),
    ...(typeof tokensExpireAt === 'number' ? { tokensExpireAt } : {}),
    ...(isDiscovery(discovery) ? { discovery } : {}),
  }
}

/** The authorization server that the tokens are of, as far as that is known. */
export function issuerOf({ tokens, discovery }: Stored): string | undefined {
  if (typeof tokens?.issuer === 'string') return tokens.issuer
  return discovery && issuerIn(discovery)
}

/** The issuer that was found out. */
export function issuerIn({ authorizationServerMetadata, authorizationServerUrl }: OAuthDiscovery): string {
  return authorizationServerMetadata?.issuer ?? authorizationServerUrl
}

/** Whether two names are of one issuer: an address without a path may end in a slash. */
export function sameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '')
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isClient(value: unknown): value is OAuthClient {
  return (
    isRecord(value) &&
    isText(value.client_id) &&
    isOptionalText(value.client_secret) &&
    isTexts(value.redirect_uris)
  )
}

function isTokens(value: unknown): value is OAuthTokens {
  return (
    isRecord(value) &&
    isText(value.access_token) &&
    isSendable(value.access_token) &&
    isOptionalText(value.refresh_token) &&
    isOptionalText(value.scope) &&
    (value.expires_in === undefined || typeof value.expires_in === 'number')
  )
}

function isDiscovery(value: unknown): value is OAuthDiscovery {
  if (!isRecord(value) || !isAddress(value.authorizationServerUrl)) return false
  const { authorizationServerMetadata: server, resourceMetadata: resource } = value
  return (
    (server === undefined ||
      (isRecord(server) &&
        isText(server.issuer) &&
        isAddress(server.authorization_endpoint) &&
        isAddress(server.token_endpoint) &&
        Array.isArray(server.response_types_supported) &&
        isTexts(server.token_endpoint_auth_methods_supported))) &&
    (resource === undefined || (isRecord(resource) && isAddress(resource.resource)))
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isTexts(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value)
}
