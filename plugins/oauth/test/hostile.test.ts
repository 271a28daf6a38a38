import { expect, test } from 'vitest'
import {
  type Answer,
  ask,
  type Authority,
  browserWith,
  createPlace,
  forever,
  type Protected,
  specOf,
  startAuthority,
  startPeer,
  startProtected,
  thrownBy,
} from './place.ts'

/** Signs in at an authorization server that misbehaves; answers what the person is told. */
async function signInAt(
  misbehave: (authority: Authority, server: Protected) => void | Promise<void>,
  browser = browserWith(),
  signal = forever(),
) {
  const place = createPlace()
  const authority = await startAuthority()
  const server = await startProtected(authority)
  await misbehave(authority, server)
  const process = await place.start()
  const spec = specOf('hub', server.url)
  await thrownBy(ask(await process.connect(spec), server.url))
  const error = await thrownBy(process.signIns.signIn(spec, browser, { signal }))
  expect(JSON.stringify(place.stored())).not.toContain('access')
  return { error, authority, server, browser, place }
}

const json = (value: unknown): Answer => ({ json: value })

test('that lies about its issuer is not gone to', async () => {
  const { error, browser, authority } = await signInAt((authority) => {
    authority.metadata.issuer = 'https://bank.example'
  })
  expect(error.message).toBe(
    `The server sends sign-ins to ${authority.peer.origin}, whose metadata calls it https://bank.example.`,
  )
  expect(error.advice).toContain('authServerMetadataUrl')
  expect(browser.opened).toEqual([])
})

test('whose answer names another issuer gets no code, and its words are not shown', async () => {
  const { error, authority } = await signInAt(
    () => undefined,
    browserWith((url) => {
      url.searchParams.set('iss', 'https://evil.example/SHOWN')
      return url
    }),
  )
  expect(error.message).toContain('names another issuer, or none')
  expect(String(error)).not.toContain('SHOWN')
  expect(authority.peer.to('/token')).toEqual([])
})

test('that promises to name its issuer and does not is not believed, even when it declines', async () => {
  const promise = (authority: Authority): void => {
    authority.metadata.authorization_response_iss_parameter_supported = true
  }
  const first = await signInAt(promise)
  expect(first.error.message).toContain('names another issuer, or none')
  const { error } = await signInAt(
    promise,
    browserWith((url) => {
      url.searchParams.set('error', 'access_denied')
      url.searchParams.set('error_description', 'Call 555-1234')
      return url
    }),
  )
  expect(String(error)).not.toContain('555')
})

test('without metadata, whoever names an issuer is not believed', async () => {
  const { error } = await signInAt(
    (authority, server) => {
      authority.instead = ({ path }) => (path.startsWith('/.well-known') ? { status: 404 } : undefined)
      server.resource = { resource: server.url, authorization_servers: [authority.peer.origin] }
    },
    browserWith((url) => {
      url.searchParams.set('iss', 'https://somebody.example')
      return url
    }),
  )
  expect(error.message).toContain('names another issuer')
})

test('that sends the answer to another path is not believed', async () => {
  const { error, authority } = await signInAt(
    ({ metadata }) => {
      metadata.client_id_metadata_document_supported = true
      metadata.token_endpoint_auth_methods_supported = ['none']
    },
    browserWith((url) => {
      url.pathname = '/callback'
      return url
    }),
  )
  expect(error.message).toContain('came back to another address')
  expect(authority.peer.to('/token')).toEqual([])
})

test('that redirects without end is left', async () => {
  const { error, authority } = await signInAt((authority) => {
    authority.instead = ({ path }, origin) =>
      path.startsWith('/.well-known/oauth-authorization-server')
        ? { status: 302, headers: { location: `${origin}${path}` } }
        : undefined
  })
  expect(error.message).toBe(`${authority.peer.origin} redirects more than 5 times.`)
  expect(authority.peer.received.length).toBeLessThan(10)
})

test('that redirects the token request elsewhere gets no answer to it', async () => {
  const elsewhere = await startPeer(() => json({ access_token: 'access-x', token_type: 'Bearer' }))
  const { error } = await signInAt((authority) => {
    authority.token = () => ({ status: 307, headers: { location: `${elsewhere.origin}/token` } })
  })
  expect(error.message).toBe('The authorization server refused the sign-in: HTTP 307.')
  expect(elsewhere.received).toEqual([])
})

test('whose answers are huge is left at the limit', async () => {
  const { error } = await signInAt((authority) => {
    authority.token = () => ({ text: `{"access_token":"${'x'.repeat(3_000_000)}"}` })
  })
  expect(error.message).toMatch(/answered with more than 1048576 bytes\.$/)
})

test('whose token address is plain http elsewhere gets no code', async () => {
  const { error, browser } = await signInAt((authority) => {
    authority.metadata.token_endpoint = 'http://tokens.example/token'
  })
  expect(error.message).toBe(
    'The authorization server’s token address is plain http: tokens are not sent there.',
  )
  expect(browser.opened).toHaveLength(1)
})

test.each([
  ['javascript:alert(1)', /not usable/],
  ['file:///etc/passwd', /neither http nor https/],
  ['http://login.example/authorize', /plain http to another machine/],
  ['https://user:secret@login.example/', /holds a user name or password/],
])('whose sign-in page is %s is not opened', async (address, message) => {
  const { error, browser } = await signInAt((authority) => {
    authority.metadata.authorization_endpoint = address
  })
  expect(error.message).toMatch(message)
  expect(String(error)).not.toContain('secret')
  expect(browser.opened).toEqual([])
})

test.each([
  ['no PKCE with S256', { code_challenge_methods_supported: ['plain'] }],
  ['no authorization codes', { response_types_supported: ['token'] }],
])('that offers %s is not gone to', async (_what, metadata) => {
  const { browser } = await signInAt((authority) => void Object.assign(authority.metadata, metadata))
  expect(browser.opened).toEqual([])
})

test.each<[string, Answer]>([
  ['a page', { text: '<html>not <b>you</b></html>' }],
  ['an array', json([])],
  ['no token', json({ token_type: 'Bearer' })],
  ['a number as a token', json({ access_token: 7, token_type: 'Bearer' })],
  ['a token that no header can carry', json({ access_token: 'a\r\nx-evil: 1', token_type: 'Bearer' })],
  ['an error with status 200', json({ error: 'invalid_grant', error_description: 'used' })],
])('that answers %s to the code gives nothing', async (_what, answer) => {
  const { error } = await signInAt((authority) => {
    authority.token = () => answer
  })
  expect(error.code).toBe('AUTH_FAILED')
  expect(error.message).not.toMatch(/evil|<html>/)
})

test('that does not register says why, with its own words on one line', async () => {
  const { error } = await signInAt((authority) => {
    authority.register = () => ({
      status: 400,
      json: { error: 'invalid_client_metadata', error_description: 'pi\n\u001B[2Jis not known' },
    })
  })
  expect(error.message).toBe(
    'The authorization server does not register this client (HTTP 400: invalid_client_metadata (pi is not known)).',
  )
})

test('that registers nobody is told apart', async () => {
  const { error } = await signInAt(({ metadata }) => void delete metadata.registration_endpoint)
  expect(error).toMatchObject({
    message: 'The authorization server does not register clients by itself.',
    advice: expect.stringContaining('"clientId"'),
  })
})

test('that never answers is given up, at the latest when the person gives up', async () => {
  const abort = new AbortController()
  const asked = Promise.withResolvers<void>()
  const running = signInAt(
    (authority) => {
      authority.token = () => {
        asked.resolve()
        return new Promise<never>(() => undefined)
      }
    },
    browserWith(),
    abort.signal,
  )
  await asked.promise
  abort.abort()
  expect((await running).error).toMatchObject({ code: 'CANCELLED' })
})

test('metadata of another resource is refused', async () => {
  const { error, browser } = await signInAt((_authority, server) => {
    server.resource = { ...server.resource, resource: 'https://bank.example/mcp' }
  })
  expect(error.message).toBe('The server’s metadata is that of another one: https://bank.example/mcp.')
  expect(browser.opened).toEqual([])
})

test('metadata that is no JSON counts as none: the server’s own origin is asked', async () => {
  const { error, server } = await signInAt((_authority, server) => {
    const { handle } = server.peer
    server.peer.handle = (request, origin) =>
      request.path.startsWith('/.well-known/oauth-protected-resource')
        ? { text: '<html>' }
        : handle(request, origin)
  })
  expect(server.peer.to('/.well-known/oauth-authorization-server')).toHaveLength(1)
  expect(error.message).toBe(`Neither the server nor ${server.peer.origin} says who signs people in.`)
  expect(error.advice).toContain('"Authorization" header')
})

test('an address in the refusal is used, on another path as well', async () => {
  const { error, server } = await signInAt((_authority, server) => {
    const { origin } = server.peer
    server.refusal = () => ({
      status: 401,
      headers: { 'www-authenticate': `Basic realm="x", Bearer resource_metadata="${origin}/my-metadata"` },
    })
  })
  expect(server.peer.to('/my-metadata')).toHaveLength(1)
  expect(error.code).toBe('AUTH_FAILED')
})
