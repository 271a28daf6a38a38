import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { placesFor } from '../../../src/session/oauth/places.ts'

const remote = placesFor({ serverUrl: 'https://mcp.example/mcp' })

test.each([
  'http://127.0.0.1/x',
  'https://127.0.0.1:8443/x',
  'http://127.1/x',
  'http://2130706433/',
  'http://0x7f.0.0.1/',
  'http://localhost:3000/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://a.localhost/',
  'https://0.0.0.0/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'http://169.254.169.254/latest/meta-data',
  'https://[fe80::1]/',
])('a server elsewhere cannot point to %s', (address) => {
  expect(() => remote(address)).toThrow(/is on this machine, while the server is not/)
})

test.each([
  ['http://login.example/', /plain http to another machine/],
  ['file:///etc/passwd', /neither http nor https/],
  ['javascript:alert(1)', /neither http nor https/],
  ['https://u:p@login.example/', /holds a user name or password/],
  ['not an address', /is no address/],
])('%s is refused, and not quoted further than its origin', (address, message) => {
  expect(() => remote(address)).toThrow(message)
})

test('https elsewhere is free, and so is this machine for a server that is on it', () => {
  expect(remote('https://login.example/x').href).toBe('https://login.example/x')
  const local = placesFor({ serverUrl: 'http://127.0.0.1:3000/mcp' })
  expect(local('http://localhost:4000/x').port).toBe('4000')
  expect(local('https://login.example/').host).toBe('login.example')
  expect(() => local('http://login.example/')).toThrow(/plain http/)
  // What the person configured is trusted.
  const configured = placesFor({
    serverUrl: 'https://mcp.example/mcp',
    metadataUrl: 'http://localhost:9000/m',
  })
  expect(configured('http://localhost:9000/token').port).toBe('9000')
  // A server of one's own network that is plain http itself.
  const inside = placesFor({ serverUrl: 'http://hub.lan/mcp' })
  expect(inside('http://hub.lan:8080/').host).toBe('hub.lan:8080')
  expect(() => inside('http://other.lan/')).toThrow(/plain http/)
})

test('whatever is handed in, what comes back is https without credentials, or it is refused', () => {
  const judged = (text: string): string => {
    try {
      const { protocol, username, password } = remote(text)
      return `${protocol} ${username}${password}`
    } catch (thrown) {
      return String((thrown as { readonly code?: unknown }).code)
    }
  }
  const address = fc.webUrl({ validSchemes: ['http', 'https', 'ftp'] })
  fc.assert(
    fc.property(fc.oneof(fc.string(), address), (text) => {
      expect(['https: ', 'AUTH_FAILED']).toContain(judged(text))
    }),
  )
})
