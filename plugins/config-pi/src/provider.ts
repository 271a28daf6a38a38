import type { ConnectRequest, Host, TransportSpec } from '@tapline/core'
import { isFields } from './fields.ts'
import { isSecure, isTemplate, urlOf } from './urls.ts'

/** Who is told which servers want a sign-in with a provider. */
export interface ProviderNeeds {
  /** The server did not take this token, or wants one. */
  need(server: string, provider: string, token: string | undefined): void
  /** The server takes what it is sent. */
  met(server: string): void
}

/** The model provider whose token a server is sent, by `auth.provider` of its entry; undefined for most. */
export function providerOf(transport: TransportSpec): string | undefined {
  const auth = transport.type === 'streamable-http' ? transport.extra?.auth : undefined
  return isFields(auth) && typeof auth.provider === 'string' ? auth.provider : undefined
}

/**
 * Has each request of a connection carry the token that the provider has at that moment, as pi does: to the origin of
 * the entry's own address and nowhere else. Without a token the server is asked without one, and says what it wants.
 */
export function authorizeByProvider(request: ConnectRequest, host: Host, needs: ProviderNeeds): void {
  const { server, secrets } = request
  const { name, source, transport } = server
  const provider = providerOf(transport)
  if (provider === undefined || transport.type !== 'streamable-http') return
  // Reading the entry has refused these; nothing is sent either should one come from elsewhere.
  const url = isTemplate(transport.url) ? undefined : urlOf(transport.url)
  if (source.scope === 'project' || !url || !isSecure(url))
    throw request.error('CONFIG_INVALID', 'auth.provider is not allowed in this entry.', { advice: PLACE })
  const send = request.fetch ?? fetch
  let last: string | undefined
  request.fetch = async (target, init) => {
    if (target.origin !== url.origin) return send(target, init)
    // The end of a session is not worth a renewal.
    if (init.method !== 'DELETE') last = await unlessAborted(tokenOf(provider, host), init.signal)
    if (last !== undefined) secrets?.add(last)
    const response = await send(target, withToken(init, last, provider, request))
    if (response.ok) needs.met(name)
    if (response.status !== 401 || init.method === 'DELETE') return response
    await response.body?.cancel()
    needs.need(name, provider, last)
    const message = `MCP server "${name}" requires sign-in. Run /login ${provider} to sign in.`
    throw request.error('AUTH_FAILED', message, {
      advice: `In a shell: pi auth login ${provider}`,
      data: { status: 401, signIn: true },
    })
  }
}

const PLACE = 'Write it into the user’s mcp.json, with an https address or one of this machine.'

/** Whoever looks it up may fail: then there is none. */
async function tokenOf(provider: string, host: Host): Promise<string | undefined> {
  return (await host.providerToken?.(provider).catch(() => undefined)) || undefined
}

function withToken(
  init: RequestInit,
  token: string | undefined,
  provider: string,
  { error }: ConnectRequest,
): RequestInit {
  if (token === undefined) return init
  // `fetch` would refuse it with a message that quotes it.
  if (!/^[\u0021-\u007E]+$/.test(token)) {
    const message = `The token of the provider "${provider}" cannot be sent; it holds a line break or another character that is not allowed.`
    throw error('AUTH_FAILED', message, {
      advice: `Run /login ${provider} to sign in again.`,
      data: { signIn: true },
    })
  }
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  return { ...init, headers }
}

/** Rejects at once when nobody waits any more; a renewal that was begun goes on. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return work
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = (): void => reject(signal.reason as Error)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  void work.then(resolve, reject)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}
