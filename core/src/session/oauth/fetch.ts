import { TaplineError } from '../../errors.ts'
import type { OAuthRequest } from '../../types/index.ts'
import { placesFor } from './places.ts'

const REQUEST_TIMEOUT_MS = 15_000
const LARGEST_ANSWER = 1024 * 1024
const MOST_REDIRECTS = 5

/** What the SDK makes its requests with. */
export type OAuthFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * `fetch` for one step: limited in time and size, to safe places, and to redirects of GET within one origin. Members
 * of a JSON answer that are null or empty are left out: authorization servers send them for what they have not.
 */
export function fetchFor(request: OAuthRequest): OAuthFetch {
  const check = placesFor(request)
  return async (address, init = {}) => {
    let url = check(address)
    for (let followed = 0; ; followed++) {
      const response = await ask(url, init, request.signal)
      const target = redirectOf(response, url)
      if (target === undefined) return response
      if (followed === MOST_REDIRECTS)
        throw new TaplineError('AUTH_FAILED', `${url.origin} redirects more than ${MOST_REDIRECTS} times.`)
      // A POST carries what must not go elsewhere; what is not followed counts as a refusal.
      if ((init.method ?? 'GET') !== 'GET' || target.origin !== url.origin) return response
      url = check(target)
    }
  }
}

async function ask(url: URL, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
  const late = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const signals = [late, ...(signal ? [signal] : []), ...(init.signal ? [init.signal] : [])]
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.any(signals) })
    const text = await boundedText(response, url)
    const { status, headers } = response
    return new Response([204, 205, 304].includes(status) ? null : tidy(text), {
      status,
      headers: picked(headers, ['content-type', 'location']),
    })
  } catch (thrown) {
    if (thrown instanceof TaplineError) throw thrown
    if (signal?.aborted) throw new TaplineError('CANCELLED', 'The sign-in was cancelled.')
    const why = late.aborted ? `did not answer within ${REQUEST_TIMEOUT_MS / 1000} s` : 'cannot be reached'
    throw new TaplineError('CONNECT_FAILED', `${url.origin} ${why}.`, {
      advice: 'Look at whether that address works from here, then try again.',
      data: { transient: true },
      cause: thrown,
    })
  }
}

async function boundedText(response: Response, url: URL): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the rest.
    if (size > LARGEST_ANSWER)
      throw new TaplineError('AUTH_FAILED', `${url.origin} answered with more than ${LARGEST_ANSWER} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tidy(text: string): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return text
  return JSON.stringify(
    Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== '')),
  )
}

function picked(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}

function redirectOf({ status, headers }: Response, from: URL): URL | undefined {
  const location = headers.get('location')
  if (![301, 302, 303, 307, 308].includes(status) || location === null) return undefined
  return URL.parse(location, from.href) ?? undefined
}
