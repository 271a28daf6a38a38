import { createHash } from 'node:crypto'
import type { AuthorizationServerMetadata, OAuthClient } from '@tapline/core'
import type { OAuthSettings } from './settings.ts'

/** The client registers as pi does, whose sign-ins it shares: some servers know that name. */
export const CLIENT_NAME = 'pi'
/** Where pi publishes its Client ID Metadata Documents. Tokens that `pi mcp login` got with one are bound to it. */
const DOCUMENTS = 'https://pi.dev/oauth'
const CALLBACK_URL = 'http://127.0.0.1/callback'

/** Where the answer of a sign-in comes back to this machine. */
export interface Loopback {
  /** The redirect address, without a port unless one is configured. */
  readonly url: string
  /** The address to listen on. */
  readonly host: string
  readonly port: number | undefined
  readonly path: string
  /** The redirect address when its port is fixed: exactly as written, since servers compare it so. */
  readonly fixed: string | undefined
}

/** What `callbackUrl` and `callbackPort` say. */
export function loopbackOf({ callbackUrl, callbackPort }: OAuthSettings): Loopback {
  const configured = callbackUrl ?? CALLBACK_URL
  const url = new URL(configured)
  const host = url.hostname === 'localhost' ? '127.0.0.1' : url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? callbackPort : Number(url.port)
  const fixed = url.port !== '' ? callbackUrl : port === undefined ? undefined : withPort(configured, port)
  return { url: configured, host, port, path: url.pathname, fixed }
}

/** The address with a port. */
export function withPort(address: string, port: number): string {
  const url = new URL(address)
  url.port = String(port)
  return url.href
}

/** Whether the documents may be used: not for a client or a name of one's own, nor for an address they do not list. */
export function mayUseDocument(settings: OAuthSettings, redirectUrl: string): boolean {
  if (settings.clientRegistration !== 'auto') return settings.clientRegistration === 'cimd'
  return settings.clientId === undefined && settings.clientName === undefined && isListed(redirectUrl)
}

/** pi's documents list `/callback` on `localhost` and `127.0.0.1`, on any port. */
export function isListed(redirectUrl: string): boolean {
  const url = new URL(redirectUrl)
  return url.hostname !== '[::1]' && url.pathname === '/callback'
}

/**
 * The document to identify with, where the authorization server takes documents of public clients. One that does not
 * name itself in its answers (RFC 9207) gets a document and an address of this server alone, so that answers cannot be
 * mixed up (RFC 9700, section 4.4.2.2).
 */
export function documentFor(
  serverUrl: string,
  redirectUrl: string,
  metadata: AuthorizationServerMetadata | undefined,
): { readonly client: OAuthClient; readonly redirectUrl: string } | undefined {
  if (metadata?.client_id_metadata_document_supported !== true) return undefined
  if (!metadata.token_endpoint_auth_methods_supported?.includes('none')) return undefined
  if (metadata.authorization_response_iss_parameter_supported === true)
    return { client: { client_id: `${DOCUMENTS}/client.json` }, redirectUrl }
  const own = new URL(redirectUrl)
  own.pathname = ownPath(own.pathname, serverUrl)
  return { client: { client_id: `${DOCUMENTS}/${idOf(serverUrl)}/client.json` }, redirectUrl: own.href }
}

/** The path of the redirect address that is this server's alone. */
export function ownPath(path: string, serverUrl: string): string {
  return `${path.replace(/\/$/, '')}/${idOf(serverUrl)}`
}

/** Where a registered client may be answered. */
export function redirectUrisOf(client: OAuthClient | undefined): readonly string[] {
  return client?.redirect_uris ?? []
}

/** A client of the entry itself. */
export function configuredClient({ clientId, clientSecret }: OAuthSettings): OAuthClient | undefined {
  if (clientId === undefined) return undefined
  return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
}

/** Twelve characters for a server's address, as pi and Codex count them. */
function idOf(serverUrl: string): string {
  const url = new URL(serverUrl)
  url.hash = ''
  return createHash('sha256').update(url.href).digest().subarray(0, 9).toString('base64url')
}
