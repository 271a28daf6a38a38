import type { Failures } from './failures.ts'

const LIMIT = 5

/** What makes one request. Redirects are not its business. */
export type Send = (url: URL, init: RequestInit) => Promise<Response>

/**
 * `fetch` that follows redirects inside one origin only, so that no credential ever leaves it. Whatever
 * the network does wrong is thrown as one of `failures`.
 */
export async function fetchWithinOrigin(
  url: URL,
  init: RequestInit,
  failures: Failures,
  send: Send = fetch,
): Promise<Response> {
  let current = url
  for (let followed = 0; ; followed++) {
    const response = await answer(current, init, failures, send)
    const target = targetOf(response, current)
    if (target === undefined) return response
    await response.body?.cancel()
    if (target.origin !== url.origin) throw failures.redirect(target.origin)
    if (init.method !== 'GET' && response.status !== 307 && response.status !== 308)
      throw failures.redirectLost(response.status)
    if (followed === LIMIT) throw failures.redirectLoop(LIMIT)
    current = target
  }
}

async function answer(url: URL, init: RequestInit, failures: Failures, send: Send): Promise<Response> {
  try {
    return await send(url, { ...init, redirect: 'manual' })
  } catch (thrown) {
    // A plugin that authorizes requests says itself what is wrong.
    if ((thrown as { readonly name?: unknown }).name === 'TaplineError') throw thrown
    throw init.signal?.aborted ? init.signal.reason : failures.network(thrown)
  }
}

function targetOf(response: Response, from: URL): URL | undefined {
  const location = response.headers.get('location')
  if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return undefined
  const target = URL.parse(location, from.href)
  if (target === null) return undefined
  target.username = ''
  target.password = ''
  return target
}
