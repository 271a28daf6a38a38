import { TaplineError } from '../../errors.ts'
import { cleanText } from '../../text.ts'
import type { OAuthRequest } from '../../types/index.ts'

/** This machine, and the addresses that are its own network's alone. A URL writes every spelling of them this way. */
const OWN =
  /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|169\.254\.\d+\.\d+|\[::1?\]|\[::ffff:(?:7f|a9fe:).*\]|\[fe[89ab].*\])\.?$/

/** Throws unless a sign-in at this server may go to `address`. */
export type PlaceCheck = (address: string | URL) => URL

/**
 * Where a sign-in may go: https anywhere, and plain http to this machine or to the host of a server that is itself
 * reached over plain http. A server elsewhere cannot point to this machine.
 */
export function placesFor({ serverUrl, metadataUrl }: OAuthRequest): PlaceCheck {
  const server = new URL(serverUrl)
  const local = [serverUrl, ...(metadataUrl === undefined ? [] : [metadataUrl])].some((text) =>
    isOwn(new URL(text)),
  )
  return (address) => {
    const url = URL.parse(String(address))
    if (url === null) throw refused(String(address), 'is no address')
    if (url.username !== '' || url.password !== '') throw refused(url.origin, 'holds a user name or password')
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw refused(url.protocol, 'is neither http nor https')
    if (isOwn(url)) {
      if (local) return url
      throw refused(url.origin, 'is on this machine, while the server is not')
    }
    if (url.protocol === 'https:') return url
    if (server.protocol === 'http:' && url.hostname === server.hostname) return url
    throw refused(
      url.origin,
      'is plain http to another machine, where anyone on the way could read the tokens',
    )
  }
}

function isOwn({ hostname }: URL): boolean {
  return OWN.test(hostname)
}

function refused(what: string, why: string): TaplineError {
  const message = `The sign-in leads to an address that is not used: ${cleanText(what, 200)} ${why}.`
  return new TaplineError('AUTH_FAILED', message, {
    advice: 'Tell whoever runs the server, or set "authServerMetadataUrl" in the entry’s "oauth".',
  })
}
