import type { ConnectRequest, ServerSpec } from '@tapline/core'

/** What an entry's `oauth` says, with what its values refer to filled in. */
export interface OAuthSettings {
  readonly clientId?: string
  /** Secret. */
  readonly clientSecret?: string
  readonly callbackPort?: number
  readonly callbackUrl?: string
  /** Separated by spaces. */
  readonly scope?: string
  readonly clientName?: string
  readonly clientRegistration: 'auto' | 'dcr' | 'cimd'
  readonly authServerMetadataUrl?: string
}

/** An entry's `oauth` as it was written. */
export type RawSettings = Readonly<Record<string, unknown>>

/** The address of a server that signs in with OAuth: over HTTP, and without a credential of its own. */
export function oauthUrl(
  transport: ServerSpec['transport'],
  headers: ConnectRequest['headers'] = {},
): string | undefined {
  if (transport.type !== 'streamable-http' || transport.auth !== undefined) return undefined
  if (transport.extra?.auth !== undefined) return undefined
  const names = [...Object.keys(transport.headers), ...Object.keys(headers)]
  return names.some((name) => name.toLowerCase() === 'authorization') ? undefined : transport.url
}

/** What the entry says of OAuth. */
export function rawSettings(transport: ServerSpec['transport']): RawSettings {
  const oauth = transport.type === 'streamable-http' ? transport.extra?.oauth : undefined
  return typeof oauth === 'object' && oauth !== null ? (oauth as RawSettings) : {}
}

/** Resolves the values that may refer to variables or commands. Rejects with what could not be resolved. */
export async function resolveSettings(
  raw: RawSettings,
  resolve: ConnectRequest['resolve'],
): Promise<OAuthSettings> {
  const text = (name: string): string | undefined => {
    const value = raw[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const filled = async (name: string): Promise<string | undefined> => {
    const value = text(name)
    return value === undefined || !resolve ? value : resolve(value, `oauth.${name}`)
  }
  const { callbackPort, clientRegistration } = raw
  // pi takes the id as it stands: only what can be nothing but a reference is filled in.
  const clientId = /^!|\$\{/.test(text('clientId') ?? '') ? await filled('clientId') : text('clientId')
  return {
    ...defined({
      clientId,
      clientSecret: await filled('clientSecret'),
      callbackUrl: text('callbackUrl'),
      scope: text('scope'),
      clientName: text('clientName'),
      authServerMetadataUrl: text('authServerMetadataUrl'),
      callbackPort: typeof callbackPort === 'number' ? callbackPort : undefined,
    }),
    clientRegistration:
      clientRegistration === 'dcr' || clientRegistration === 'cimd' ? clientRegistration : 'auto',
  }
}

/** Each scope of these lists once, in order; undefined when there is none. */
export function scopesOf(...lists: readonly (string | undefined)[]): string | undefined {
  const scopes = new Set(lists.flatMap((list) => list?.split(/\s+/).filter(Boolean) ?? []))
  return scopes.size === 0 ? undefined : [...scopes].join(' ')
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> }

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}
