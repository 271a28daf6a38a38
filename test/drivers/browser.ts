/** A person at a browser, as far as signing in needs one: follows redirects, keeps cookies, and submits forms. */
export interface Browser {
  /** Opens an address and approves whatever is asked, until it is sent to an address that `ends` accepts. */
  approve(address: string, ends?: (url: URL) => boolean): Promise<URL>
  /** The same, but declines. */
  decline(address: string, ends?: (url: URL) => boolean): Promise<URL>
}

const MOST_STEPS = 20

/** A browser without a window. */
export function createBrowser(): Browser {
  const jars = new Map<string, Map<string, string>>()

  async function ask(url: URL, init: RequestInit = {}): Promise<Response> {
    const jar = jars.get(url.origin) ?? new Map<string, string>()
    jars.set(url.origin, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  async function drive(address: string, approving: boolean, ends: (url: URL) => boolean): Promise<URL> {
    let url = new URL(address)
    let init: RequestInit = {}
    for (let step = 0; step < MOST_STEPS; step++) {
      if (ends(url)) return url
      const response = await ask(url, init)
      init = {}
      const location = response.headers.get('location')
      if (location !== null) {
        url = new URL(location, url)
        continue
      }
      const page = await response.text()
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
      if (!response.ok || action === undefined)
        throw new Error(
          `${url.href} answers ${response.status}: ${page.replaceAll(/<[^>]*>|\s+/g, ' ').slice(0, 500)}`,
        )
      if (!approving && page.includes('/abort')) {
        url = new URL(/href="([^"]*\/abort)"/.exec(page)?.[1] ?? '', url)
        continue
      }
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? ''
      url = new URL(action, url)
      init = { method: 'POST', body: new URLSearchParams({ prompt, login: 'somebody', password: 'x' }) }
    }
    throw new Error(`${address} leads nowhere.`)
  }

  return {
    approve: (address, ends = isCallback) => drive(address, true, ends),
    decline: (address, ends = isCallback) => drive(address, false, ends),
  }
}

/** The address that belongs to whoever began the sign-in. */
function isCallback({ pathname }: URL): boolean {
  return pathname.startsWith('/callback')
}

/** Lets the browser arrive at the address where the answer is waited for; answers the page. */
export async function arrive(url: URL): Promise<{ readonly status: number; readonly page: string }> {
  const response = await fetch(url)
  return { status: response.status, page: await response.text() }
}
