/** What an authorization server sent back by way of the browser. Its words are data. */
export type Redirected = { readonly iss?: string } & (
  | { readonly code: string }
  | { readonly error: string; readonly description?: string }
)

/** Which answer is waited for. */
export interface Expected {
  readonly redirectUrl: string
  readonly state: string
}

/** Why an address is not the answer: `foreign` belongs to another sign-in, `broken` to this one but cannot be used. */
export interface Unusable {
  readonly fault: 'foreign' | 'broken'
  /** A sentence that quotes nothing. */
  readonly problem: string
}

/** Reads the answer out of the address that the browser was sent to. */
export function readRedirect(url: URL, { redirectUrl, state }: Expected): Redirected | Unusable {
  const parameters = url.searchParams
  const one = (name: string): string | undefined => {
    const values = parameters.getAll(name)
    return values.length === 1 && values[0] !== '' ? values[0] : undefined
  }
  if (one('state') !== state) return { fault: 'foreign', problem: 'It belongs to another sign-in.' }
  const asked = new URL(redirectUrl)
  // An address of one server alone tells authorization servers apart, so it must be that one.
  if (url.pathname !== asked.pathname)
    return { fault: 'broken', problem: 'It came back to another address than the one that was asked for.' }
  for (const name of ['code', 'error', 'iss']) {
    if (parameters.getAll(name).length > 1)
      return { fault: 'broken', problem: 'It says the same thing twice, and is not believed.' }
  }
  const iss = one('iss')
  const named = iss === undefined ? {} : { iss }
  const error = one('error')
  if (error !== undefined) {
    const description = one('error_description')
    return { error, ...(description === undefined ? {} : { description }), ...named }
  }
  const code = one('code')
  if (code === undefined) return { fault: 'broken', problem: 'It holds neither a code nor an error.' }
  return { code, ...named }
}

/** Reads an address that a person pasted. */
export function readPasted(text: string, expected: Expected): Redirected | Unusable {
  const url = URL.parse(text.trim())
  if (url === null)
    return {
      fault: 'foreign',
      problem: 'That is no address. Paste the whole address from the browser’s address bar.',
    }
  if (url.origin !== new URL(expected.redirectUrl).origin) {
    const { origin } = new URL(expected.redirectUrl)
    return { fault: 'foreign', problem: `That is another address. The right one begins with ${origin}.` }
  }
  return readRedirect(url, expected)
}

export function isUnusable(answer: Redirected | Unusable): answer is Unusable {
  return 'fault' in answer
}
