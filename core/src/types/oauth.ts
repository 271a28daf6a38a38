import type { ErrorCode, ErrorDetails } from '../errors.ts'

/** What a server demands when it refuses a request (RFC 6750, RFC 9728). Its own words: data, never instructions. */
export interface OAuthChallenge {
  /** Where its protected resource metadata is. */
  readonly resourceMetadataUrl?: string
  /** The scopes that it asks for, separated by spaces. */
  readonly scope?: string
  /** For example `invalid_token` or `insufficient_scope`. */
  readonly error?: string
}

/** Metadata of an authorization server (RFC 8414, OpenID Connect Discovery), checked as far as it is named here. */
export interface AuthorizationServerMetadata {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly registration_endpoint?: string | undefined
  readonly scopes_supported?: string[] | undefined
  readonly response_types_supported: string[]
  readonly token_endpoint_auth_methods_supported?: string[] | undefined
  readonly code_challenge_methods_supported?: string[] | undefined
  readonly client_id_metadata_document_supported?: boolean | undefined
  /** Whether authorization responses name their issuer (RFC 9207). */
  readonly authorization_response_iss_parameter_supported?: boolean | undefined
  readonly [field: string]: unknown
}

/** Metadata of a protected resource (RFC 9728), checked as far as it is named here. */
export interface ProtectedResourceMetadata {
  readonly resource: string
  readonly authorization_servers?: string[] | undefined
  readonly scopes_supported?: string[] | undefined
  readonly [field: string]: unknown
}

/** Who signs people in for a server. In this shape pi stores it as well. */
export interface OAuthDiscovery {
  readonly authorizationServerUrl: string
  /** Absent when the authorization server publishes none: then its usual addresses are taken. */
  readonly authorizationServerMetadata?: AuthorizationServerMetadata | undefined
  /** Absent when the server publishes none. */
  readonly resourceMetadata?: ProtectedResourceMetadata | undefined
  readonly resourceMetadataUrl?: string | undefined
}

/** A client of an authorization server. */
export interface OAuthClient {
  readonly client_id: string
  readonly client_secret?: string | undefined
  readonly redirect_uris?: string[] | undefined
  readonly [field: string]: unknown
}

/** What a client that registers says of itself (RFC 7591). */
export interface OAuthClientMetadata {
  readonly client_name: string
  readonly redirect_uris: string[]
  readonly token_endpoint_auth_method: string
}

/** The answer of a token endpoint. Secret. */
export interface OAuthTokens {
  readonly access_token: string
  readonly token_type: string
  /** Seconds. */
  readonly expires_in?: number | undefined
  readonly scope?: string | undefined
  readonly refresh_token?: string | undefined
  readonly id_token?: string | undefined
}

/** What every request to an authorization server has in common. */
export interface OAuthRequest {
  /** The MCP server's address. What it may point to depends on where it is: see {@link OAuthSteps}. */
  readonly serverUrl: string
  /** The authorization server's metadata, where the person configured it: it is trusted as it is. */
  readonly metadataUrl?: string | undefined
  /** Ends the request. A limit of 15 s for each is added. */
  readonly signal?: AbortSignal | undefined
}

/** Who asks for tokens, and for what. */
export interface OAuthGrant extends OAuthRequest {
  readonly client: OAuthClient
  /** The resource indicator (RFC 8707); see {@link OAuthSteps.resourceOf}. */
  readonly resource?: string | undefined
}

/** What an authorization response brought. */
export interface AuthorizationCode {
  readonly code: string
  /** The issuer that the response names (RFC 9207). */
  readonly iss?: string | undefined
  readonly verifier: string
  readonly redirectUrl: string
}

/**
 * The steps of signing in with OAuth 2.1, which the official SDK does. Every request is limited in time, in the size
 * of its answer and to redirects within one origin, and goes over https or to this machine; a server elsewhere cannot
 * point to this machine. Every rejection is a TaplineError without secrets; `data.oauth` is the error code of an
 * authorization server that answered one, `data.transient` is true where trying again may help.
 */
export interface OAuthSteps {
  /** What a refusal demands. Empty when it demands nothing that is known. */
  challengeOf(response: Response): OAuthChallenge
  /** Finds out who signs people in for a server. */
  discover(
    request: OAuthRequest & { readonly resourceMetadataUrl?: string | undefined },
  ): Promise<OAuthDiscovery>
  /** The resource indicator for a server; undefined without metadata. Throws when the metadata is another server's. */
  resourceOf(serverUrl: string, discovery: OAuthDiscovery): string | undefined
  /** Registers a client (RFC 7591). */
  register(
    discovery: OAuthDiscovery,
    client: OAuthClientMetadata,
    request: OAuthRequest & { readonly scope?: string | undefined },
  ): Promise<OAuthClient>
  /** The address that a person opens, with PKCE (S256). */
  authorize(
    discovery: OAuthDiscovery,
    request: OAuthGrant & {
      readonly redirectUrl: string
      readonly state: string
      readonly scope?: string | undefined
    },
  ): Promise<{ readonly url: string; readonly verifier: string }>
  /** Throws unless `iss` is the issuer that is expected, or absent where none was promised (RFC 9207). */
  checkIssuer(discovery: OAuthDiscovery, iss: string | undefined): void
  /** Exchanges a code, after {@link checkIssuer}. */
  exchange(discovery: OAuthDiscovery, code: AuthorizationCode, grant: OAuthGrant): Promise<OAuthTokens>
  /** Renews tokens. The refresh token stays the old one where no new one is given. */
  refresh(discovery: OAuthDiscovery, refreshToken: string, grant: OAuthGrant): Promise<OAuthTokens>
  /** An error of Tapline's own class, so that plugins need not import it. */
  error(code: ErrorCode, message: string, details?: ErrorDetails): Error
  /** Words from outside for a person: on one line, without control characters and secrets, at most `limit` long. */
  quote(words: string, limit: number): string
}
