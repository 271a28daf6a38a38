import type { Fields } from './fields.ts'
import type { EntryKind, Finding } from './schema.ts'
import { isLoopback, isSecure, isTemplate, urlOf } from './urls.ts'

/** What no schema can say: how fields of one entry go together. */
export function rulesOf(
  kind: EntryKind,
  raw: Fields,
): { readonly errors: readonly Finding[]; readonly warnings: readonly Finding[] } {
  const errors = kind === 'http' ? [...urlErrors(raw), ...oauthErrors(raw), ...authErrors(raw)] : []
  const warnings =
    kind === 'http'
      ? [...timeoutWarnings(raw), ...httpWarnings(raw)]
      : [...timeoutWarnings(raw), ...argumentWarnings(raw)]
  return { errors, warnings }
}

function finding(message: string, ...field: string[]): Finding[] {
  return [{ message, field }]
}

/** `fetch` refuses such addresses, and its message would quote the password. */
function urlErrors({ url }: Fields): Finding[] {
  const parsed = urlOf(String(url))
  if (parsed?.username || parsed?.password)
    return finding('url must not contain credentials; use headers', 'url')
  return []
}

function oauthErrors({ oauth }: Fields): Finding[] {
  if (typeof oauth !== 'object' || oauth === null) return []
  const { callbackUrl, callbackPort, clientRegistration, clientId, clientName } = oauth as Fields
  const callback = typeof callbackUrl === 'string' ? urlOf(callbackUrl) : undefined
  if (callback?.port && callbackPort !== undefined && Number(callback.port) !== callbackPort) {
    return finding('oauth.callbackUrl and oauth.callbackPort name different ports', 'oauth', 'callbackUrl')
  }
  if (clientRegistration !== 'cimd') return []
  if (clientId !== undefined || clientName !== undefined) {
    const message =
      'oauth.clientRegistration "cimd" cannot be combined with oauth.clientId or oauth.clientName'
    return finding(message, 'oauth', 'clientRegistration')
  }
  if (callback && (callback.hostname === '[::1]' || callback.pathname !== '/callback')) {
    const message =
      'oauth.clientRegistration "cimd" requires oauth.callbackUrl on localhost or 127.0.0.1 with path /callback'
    return finding(message, 'oauth', 'callbackUrl')
  }
  return []
}

/** `auth` sends a provider's credential to the address, so the address must be literal and safe. */
function authErrors({ auth, url }: Fields): Finding[] {
  if (auth === undefined) return []
  const parsed = isTemplate(String(url)) ? undefined : urlOf(String(url))
  if (parsed && isSecure(parsed)) return []
  return finding('auth requires an https URL, or http on localhost, 127.0.0.1, or [::1]', 'auth')
}

function timeoutWarnings({ timeout }: Fields): Finding[] {
  if (typeof timeout !== 'number' || timeout * 1000 <= 2 ** 31 - 1) return []
  return finding(
    'timeout is in seconds and longer than a timer can be; 2147483 seconds (24 days) are used',
    'timeout',
  )
}

/** Headers that everyone may read on the way. */
const HARMLESS = /^(accept(-.*)?|cache-control|content-type|mcp-.*|user-agent)$/i

function httpWarnings({ url, headers, oauth }: Fields): Finding[] {
  const parsed = urlOf(String(url))
  if (!parsed || parsed.protocol !== 'http:' || isLoopback(parsed)) return []
  const secret = Object.keys((headers as Fields | undefined) ?? {}).some((name) => !HARMLESS.test(name))
  if (!secret && oauth === undefined) return []
  return finding(
    'url is plain http to another machine: anyone on the way can read the credentials; use https',
    'url',
  )
}

const SHELLS = /(^|[\\/])(ba|z|da|fi|k)?sh(\.exe)?$|(^|[\\/])(cmd|pwsh|powershell)(\.exe)?$/i

/** Other clients expand variables in arguments, pi does not; in a shell's script they are the script's own. */
function argumentWarnings({ command, args }: Fields): Finding[] {
  if (!Array.isArray(args) || SHELLS.test(String(command))) return []
  const literal = args.some(
    (argument) => typeof argument === 'string' && /\$\{[A-Za-z_]\w*(:-[^}]*)?\}/.test(argument),
  )
  return literal
    ? finding('variables in args are passed as they stand; env, headers and url are expanded', 'args')
    : []
}
