const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** The URL of a text that is one. */
export function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

/** Whether the address is this machine's own. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.includes(hostname)
}

/** Whether a text is a reference that only connecting resolves. */
export function isTemplate(text: string): boolean {
  return text.includes('${')
}

/** The formats that the schema names, as pi judges them. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'http-url': (text) => isTemplate(text) || /^https?:$/.test(urlOf(text)?.protocol ?? ''),
  'loopback-redirect': (text) => {
    const url = urlOf(text)
    return (
      url !== undefined && url.protocol === 'http:' && isLoopback(url) && url.search === '' && url.hash === ''
    )
  },
  'https-or-loopback-url': (text) => {
    const url = urlOf(text)
    return url !== undefined && isSecure(url)
  },
}

/** https, or http to this machine. */
export function isSecure(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
}
