import type { ConnectRequest } from '@tapline/core'

/** Names the SDK's per-message header that tells our fetch which exchange a request belongs to; it never leaves. */
export const EXCHANGE_HEADER = 'x-tapline-exchange'

/** The connection's own: what an entry says about these is left out. */
const OWNED = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'last-event-id',
  'mcp-session-id',
  'transfer-encoding',
  'upgrade',
])
const PER_MESSAGE =
  /^(?:accept|content-type|last-event-id|mcp-method|mcp-name|mcp-param-.*|x-tapline-exchange)$/
const VALUE = /^[\t\x20-\x7E\x80-\xFF]*$/

type HeaderLayer = Readonly<Record<string, string>>

/** One set of headers; later layers win, whatever the case of the names. */
export function mergeHeaders(
  layers: readonly HeaderLayer[],
  error: ConnectRequest['error'],
): Record<string, string> {
  const headers = new Headers()
  for (const [name, value] of layers.flatMap((layer) => Object.entries(layer))) {
    if (OWNED.has(name.toLowerCase())) continue
    try {
      if (!VALUE.test(value.trim())) throw new TypeError('not a header value')
      headers.set(name, value)
    } catch {
      throw error(
        'CONFIG_INVALID',
        `The header ${JSON.stringify(name.slice(0, 80))} has a name or value that HTTP does not allow.`,
      )
    }
  }
  return Object.fromEntries(headers)
}

/** What a GET or DELETE of the same session carries: the headers of a POST without those of its message. */
export function sessionHeaders(sent: Headers, sessionId: string | undefined): Headers {
  const headers = new Headers()
  for (const [name, value] of sent) if (!PER_MESSAGE.test(name)) headers.set(name, value)
  if (sessionId !== undefined) headers.set('mcp-session-id', sessionId)
  return headers
}
