const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost']

/** What is wrong with an address, if anything. The address itself is never quoted: it may hold a password. */
export function endpointProblem(endpoint: string): string | undefined {
  if (!URL.canParse(endpoint)) return 'invalid endpoint'
  const { protocol, hostname, username, password } = new URL(endpoint)
  const plain = protocol === 'http:' && LOOPBACK.includes(hostname)
  if (protocol !== 'https:' && !plain) return 'endpoint must be https, except 127.0.0.1, ::1 and localhost'
  if (username || password) return 'endpoint must not contain credentials; use auth'
  return undefined
}

/** An address for a question: without password and query. */
export function shownEndpoint(endpoint: unknown): string {
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return 'an address that cannot be read'
  const { protocol, host, pathname, search } = new URL(endpoint)
  return `${protocol}//${host}${pathname}${search === '' ? '' : '?…'}`
}

/** The format that the schema names. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  endpoint: (text) => endpointProblem(text) === undefined,
}
