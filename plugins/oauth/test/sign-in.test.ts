import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { HttpTransportSpec } from '@tapline/core'
import {
  ask,
  browserWith,
  createPlace,
  forever,
  type Process,
  type Protected,
  specOf,
  startAuthority,
  startProtected,
  thrownBy,
} from './place.ts'

/** A server that wants a sign-in, and has said so to one process. */
async function refused(
  transport: Partial<HttpTransportSpec> = {},
  env: Readonly<Record<string, string>> = {},
) {
  const place = createPlace()
  const authority = await startAuthority()
  const server = await startProtected(authority)
  const process = await place.start(env)
  const spec = specOf('hub', server.url, transport)
  const request = await process.connect(spec)
  await thrownBy(ask(request, server.url))
  return { place, authority, server, process, spec, request, key: `mcp__hub|${server.url}` }
}

const oauth = (settings: object): Partial<HttpTransportSpec> => ({ extra: { oauth: settings } })

async function afterSignIn(process: Process, { url }: Protected): Promise<unknown> {
  return (await ask(await process.connect(specOf('hub', url)), url)).json()
}

test('registers, signs in with PKCE, state and the resource, and stores what pi stores', async () => {
  const { place, authority, server, process, spec, key } = await refused()
  server.takes.add('access-1')
  const browser = browserWith()
  expect(await process.signIns.signIn(spec, browser, { signal: forever() })).toBe('by browser')
  const [address] = browser.opened
  const redirectUrl = address?.searchParams.get('redirect_uri') ?? ''
  expect(redirectUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  expect(Object.fromEntries(address?.searchParams ?? [])).toMatchObject({
    response_type: 'code',
    client_id: 'registered-1',
    code_challenge_method: 'S256',
    resource: server.url,
  })
  expect(address?.searchParams.get('state')?.length).toBeGreaterThan(30)
  expect(JSON.parse(authority.peer.to('/register')[0]?.body ?? '')).toMatchObject({
    client_name: 'pi',
    redirect_uris: [redirectUrl],
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  })
  const form = authority.peer.to('/token')[0]?.form
  expect(Object.fromEntries(form ?? [])).toMatchObject({
    code: 'code-1',
    redirect_uri: redirectUrl,
    resource: server.url,
  })
  const challenge = createHash('sha256')
    .update(form?.get('code_verifier') ?? '')
    .digest('base64url')
  expect(address?.searchParams.get('code_challenge')).toBe(challenge)
  expect(place.stored()[key]).toMatchObject({
    serverUrl: server.url,
    clientInformation: { client_id: 'registered-1' },
    tokens: { access_token: 'access-1', refresh_token: 'refresh-1' },
    discovery: { authorizationServerUrl: authority.peer.origin },
  })
  expect(await afterSignIn(process, server)).toEqual({ token: 'access-1' })
  expect(browser.pages).toEqual([{ status: 200, text: expect.stringContaining('The answer has arrived') }])
})

test('signs in again with the client that was registered, on its port', async () => {
  const { authority, server, process, spec, place, key } = await refused()
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  authority.token = () => ({ status: 400, json: { error: 'invalid_grant' } })
  await thrownBy(ask(await process.connect(spec), server.url))
  authority.token = () => ({ json: { access_token: 'again', token_type: 'Bearer' } })
  const browser = browserWith()
  await process.signIns.signIn(spec, browser, { signal: forever() })
  expect(authority.peer.to('/register')).toHaveLength(1)
  expect(place.stored()[key]).toMatchObject({
    clientInformation: { redirect_uris: [browser.opened[0]?.searchParams.get('redirect_uri')] },
  })
})

test('registers anew where the server has changed its authorization server', async () => {
  const { server, process, spec, place, key } = await refused()
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  const next = await startAuthority()
  server.resource = { ...server.resource, authorization_servers: [next.peer.origin] }
  // The renewed token is refused as well.
  await thrownBy(ask(await process.connect(spec), server.url))
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  expect(next.peer.to('/register')).toHaveLength(1)
  expect(place.stored()[key]).toMatchObject({
    clientInformation: { issuer: next.peer.origin },
    tokens: { issuer: next.peer.origin },
    discovery: { authorizationServerUrl: next.peer.origin },
  })
})

test('renews instead of opening a browser, where that helps', async () => {
  const { authority, server, process, spec, place, key } = await refused()
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  server.takes.add('access-2')
  const browser = browserWith()
  expect(await process.signIns.signIn(spec, browser, { signal: forever() })).toBe('renewed')
  expect(browser.opened).toEqual([])
  expect(place.stored()[key]?.tokens).toMatchObject({ access_token: 'access-2' })
  expect(authority.peer.to('/token')).toHaveLength(2)
})

test('opens a browser when the renewed token was refused as well', async () => {
  const { server, process, spec } = await refused()
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  // Neither access-1 nor the renewed access-2 is taken.
  await thrownBy(ask(await process.connect(spec), server.url))
  expect(await process.signIns.signIn(spec, browserWith(), { signal: forever() })).toBe('by browser')
})

test('asks for more permissions on top of those that were granted', async () => {
  const { authority, server, process, spec, place, key } = await refused(oauth({ scope: 'base' }))
  authority.token = () => ({
    json: { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', scope: 'base read' },
  })
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  const demand = async (status: number, words: string) => {
    server.refusal = () => ({ status, headers: { 'www-authenticate': `Bearer ${words}` } })
    await thrownBy(ask(await process.connect(spec), server.url))
  }
  await demand(403, 'error="insufficient_scope", scope="write"')
  await demand(403, 'error="insufficient_scope", scope="delete"')
  // Another refusal in between does not make it forget what was demanded.
  authority.token = () => ({ status: 400, json: { error: 'invalid_grant' } })
  await demand(401, 'error="invalid_token"')
  authority.token = () => ({ json: { access_token: 'b', token_type: 'Bearer' } })
  authority.register = (body) => ({ status: 201, json: { ...body, client_id: 'registered-2' } })
  const browser = browserWith()
  await process.signIns.signIn(spec, browser, { signal: forever() })
  expect(browser.opened[0]?.searchParams.get('scope')).toBe('base write delete')
  // The first client was registered for fewer scopes.
  expect(place.stored()[key]).toMatchObject({
    clientInformation: { client_id: 'registered-2', scope: 'base write delete' },
    tokens: { scope: 'base write delete' },
  })
})

test('asks for leave to renew where that has a scope, unless the entry names scopes', async () => {
  const first = await refused()
  first.authority.metadata.scopes_supported = ['read', 'offline_access']
  first.server.resource = { ...first.server.resource, scopes_supported: ['read'] }
  const browser = browserWith()
  await first.process.signIns.signIn(first.spec, browser, { signal: forever() })
  expect(browser.opened[0]?.searchParams.get('scope')).toBe('read offline_access')
  const second = await refused(oauth({ scope: 'only' }))
  second.authority.metadata.scopes_supported = ['only', 'offline_access']
  const other = browserWith()
  await second.process.signIns.signIn(second.spec, other, { signal: forever() })
  expect(other.opened[0]?.searchParams.get('scope')).toBe('only')
})

test('uses the client of the entry, with its secret filled in and in no message', async () => {
  const { authority, server, process, spec, place, key, request } = await refused(
    oauth({ clientId: 'mine', clientSecret: 'REF', callbackUrl: 'http://localhost/back' }),
  )
  request.resolve = async (value) => (value === 'REF' ? 'very-secret-words' : value)
  authority.token = () => ({
    status: 400,
    json: { error: 'invalid_request', error_description: 'no very-secret-words' },
  })
  const error = await thrownBy(process.signIns.signIn(spec, browserWith(), { signal: forever() }))
  expect(error.message).toBe('The authorization server refused the sign-in: invalid_request (no [REDACTED]).')
  authority.token = () => ({ json: { access_token: 'a-1', token_type: 'Bearer' } })
  server.takes.add('a-1')
  const browser = browserWith()
  await process.signIns.signIn(spec, browser, { signal: forever() })
  expect(browser.opened[0]?.searchParams.get('redirect_uri')).toMatch(/^http:\/\/localhost:\d+\/back$/)
  expect(authority.peer.to('/token').at(-1)?.headers.authorization).toBe(
    `Basic ${btoa('mine:very-secret-words')}`,
  )
  expect(authority.peer.to('/register')).toEqual([])
  expect(place.stored()[key]).not.toHaveProperty('clientInformation')
  expect(JSON.stringify(place.stored())).not.toContain('very-secret-words')
})

test('says what cannot be filled in, before anything is opened', async () => {
  const { process, spec, request } = await refused(oauth({ clientId: 'mine', clientSecret: '${NOT_SET}' }))
  request.resolve = async () => {
    throw request.error(
      'CREDENTIAL_MISSING',
      'failed to resolve oauth.clientSecret from environment variable: NOT_SET',
    )
  }
  const browser = browserWith()
  const error = await thrownBy(process.signIns.signIn(spec, browser, { signal: forever() }))
  expect(error).toMatchObject({ code: 'CREDENTIAL_MISSING' })
  expect(browser.opened).toEqual([])
})

test('identifies with pi’s document where the authorization server takes it', async () => {
  const { authority, process, spec, place, key, server } = await refused()
  Object.assign(authority.metadata, {
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: ['none'],
  })
  const browser = browserWith()
  await process.signIns.signIn(spec, browser, { signal: forever() })
  const id = createHash('sha256').update(server.url).digest().subarray(0, 9).toString('base64url')
  const [address] = browser.opened
  expect(address?.searchParams.get('client_id')).toBe(`https://pi.dev/oauth/${id}/client.json`)
  expect(address?.searchParams.get('redirect_uri')).toMatch(
    new RegExp(`^http://127\\.0\\.0\\.1:\\d+/callback/${id}$`),
  )
  expect(place.stored()[key]).not.toHaveProperty('clientInformation')
  expect(authority.peer.to('/register')).toEqual([])
  // The tokens are renewed as that client.
  server.takes.add('access-2')
  expect(await afterSignIn(process, server)).toEqual({ token: 'access-2' })
  expect(authority.peer.to('/token').at(-1)?.form.get('client_id')).toBe(
    `https://pi.dev/oauth/${id}/client.json`,
  )
})

test('shares one document where answers name their issuer', async () => {
  const { authority, process, spec } = await refused(oauth({ clientRegistration: 'cimd' }))
  Object.assign(authority.metadata, {
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: ['none'],
  })
  const browser = browserWith((url) => {
    url.searchParams.set('iss', authority.peer.origin)
    return url
  })
  await process.signIns.signIn(spec, browser, { signal: forever() })
  expect(browser.opened[0]?.searchParams.get('client_id')).toBe('https://pi.dev/oauth/client.json')
  expect(browser.opened[0]?.searchParams.get('redirect_uri')).toMatch(/:\d+\/callback$/)
})

test.each([
  ['dcr', { clientRegistration: 'dcr' }],
  ['a name of its own', { clientName: 'Somebody' }],
  ['an address that the document does not list', { callbackUrl: 'http://127.0.0.1/elsewhere' }],
])('registers with %s, also where documents are taken', async (_what, settings) => {
  const { authority, process, spec } = await refused(oauth(settings))
  Object.assign(authority.metadata, {
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: ['none'],
  })
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  const { client_name: name } = JSON.parse(authority.peer.to('/register')[0]?.body ?? '') as {
    client_name: string
  }
  expect(name).toBe('clientName' in settings ? settings.clientName : 'pi')
})

test('with cimd, fails where documents are not taken', async () => {
  const { process, spec, authority } = await refused(oauth({ clientRegistration: 'cimd' }))
  const error = await thrownBy(process.signIns.signIn(spec, browserWith(), { signal: forever() }))
  expect(error.message).toContain('does not take Client ID Metadata Documents')
  expect(error.advice).toContain('clientRegistration')
  expect(authority.peer.to('/register')).toEqual([])
})

test('uses the configured metadata instead of what the server says, and stores no discovery', async () => {
  const authority = await startAuthority()
  const { process, server, place, key } = await refused()
  server.resource = { resource: server.url, authorization_servers: ['https://wrong.example'] }
  const settings = {
    authServerMetadataUrl: `${authority.peer.origin}/.well-known/oauth-authorization-server`,
  }
  const spec = specOf('hub', server.url, oauth(settings))
  await process.connect(spec)
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  expect(place.stored()[key]).toMatchObject({
    tokens: { access_token: 'access-1', issuer: authority.peer.origin },
  })
  expect(place.stored()[key]).not.toHaveProperty('discovery')
})

test('takes the port of the entry, and says who has it when it is taken', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const { process, spec } = await refused(oauth({ callbackPort: port }))
  const error = await thrownBy(process.signIns.signIn(spec, browserWith(), { signal: forever() }))
  expect(error.message).toBe(
    `The answer cannot be waited for on 127.0.0.1:${port}: another program has that port.`,
  )
  taken.close()
  await expect.poll(() => taken.listening).toBe(false)
  const browser = browserWith()
  await process.signIns.signIn(spec, browser, { signal: forever() })
  expect(browser.opened[0]?.searchParams.get('redirect_uri')).toBe(`http://127.0.0.1:${port}/callback`)
})

test('answers and ignores whoever does not know the state, then takes the right answer once', async () => {
  const { process, spec } = await refused()
  let callback = new URL('http://nowhere')
  const opened = Promise.withResolvers<void>()
  const browser = browserWith((url) => {
    callback = url
    opened.resolve()
    return undefined
  })
  const signedIn = process.signIns.signIn(spec, browser, { signal: forever() })
  await opened.promise
  const get = (change: (url: URL) => void, init?: RequestInit) => {
    const url = new URL(callback)
    change(url)
    return fetch(url, init).then((response) => response.status)
  }
  expect(await get((url) => url.searchParams.set('state', 'guessed'))).toBe(400)
  expect(await get((url) => url.searchParams.delete('state'))).toBe(400)
  expect(await get((url) => (url.pathname = '/elsewhere'))).toBe(404)
  expect(await get(() => undefined, { method: 'POST' })).toBe(405)
  expect(await get(() => undefined)).toBe(200)
  expect(await signedIn).toBe('by browser')
  // The port is free again.
  await expect(fetch(callback)).rejects.toThrow('fetch failed')
})

test('takes a pasted address, and says what is wrong with another one', async () => {
  const { process, spec } = await refused()
  let callback = new URL('http://nowhere')
  const problems: (string | undefined)[] = []
  const browser = browserWith((url) => {
    callback = url
    return undefined
  })
  const foreign = (): string => {
    const url = new URL(callback)
    url.searchParams.set('state', 'other')
    return url.href
  }
  const answers = [() => 'code-1', () => '', foreign, () => ` ${callback.href} `]
  const signedIn = await process.signIns.signIn(
    spec,
    {
      ...browser,
      paste: async (_signal, problem) => {
        problems.push(problem)
        return answers[problems.length - 1]?.()
      },
    },
    { signal: forever() },
  )
  expect(signedIn).toBe('by browser')
  expect(problems).toEqual([
    undefined,
    expect.stringMatching(/^That is no address/),
    expect.stringMatching(/^That is no address/),
    'It belongs to another sign-in.',
  ])
})

test('a person who declines is told so, and the rest of the answer is quoted without control characters', async () => {
  const { process, spec } = await refused()
  const browser = browserWith((url) => {
    url.searchParams.delete('code')
    url.searchParams.set('error', 'access_denied')
    url.searchParams.set('error_description', 'not\u001B[31m today\nplease')
    return url
  })
  const error = await thrownBy(process.signIns.signIn(spec, browser, { signal: forever() }))
  expect(error.message).toBe(
    'The authorization server did not sign you in (access_denied: not today please).',
  )
})

test('signs out of one server, and of no other', async () => {
  const { process, spec, place, key } = await refused()
  await process.signIns.signIn(spec, browserWith(), { signal: forever() })
  const other = 'mcp__other|https://other.example/mcp'
  place.store({ ...place.stored(), [other]: { serverUrl: 'https://other.example/mcp' } })
  expect(await process.signIns.signOut(spec)).toBe(true)
  expect(Object.keys(place.stored())).toEqual([other])
  expect(await process.signIns.signOut(spec)).toBe(false)
  // Without having been connected, by the address of the entry.
  place.store({ [key]: { serverUrl: spec.name } })
  const fresh = await place.start()
  expect(await fresh.signIns.signOut(spec)).toBe(true)
  await expect(fresh.signIns.signOut(specOf('v', 'https://${HOST}/mcp'))).rejects.toThrow(/holds variables/)
})

test.each(['the person', 'the signal', 'the end of the process', 'the limit'])(
  '%s ends it while the browser is waited for, and nothing is left',
  async (who) => {
    const { process, spec, place } = await refused()
    const abort = new AbortController()
    let callback = new URL('http://nowhere')
    const opened = Promise.withResolvers<void>()
    const browser = browserWith((url) => {
      callback = url
      opened.resolve()
      return undefined
    })
    const prompt = who === 'the person' ? { ...browser, paste: async () => undefined } : browser
    const failed = thrownBy(
      process.signIns.signIn(spec, prompt, {
        signal: abort.signal,
        ...(who === 'the limit' ? { limitMs: 300 } : {}),
      }),
    )
    await opened.promise
    if (who === 'the signal') abort.abort()
    if (who === 'the end of the process') await process.dispose()
    const error = await failed
    expect(error).toMatchObject(
      who === 'the limit'
        ? { code: 'AUTH_FAILED', message: 'The sign-in was not completed within 0.3 s.' }
        : { code: 'CANCELLED' },
    )
    await expect(fetch(callback)).rejects.toThrow('fetch failed')
    expect(JSON.stringify(place.stored())).not.toMatch(/access-|verifier|state/i)
  },
)

test('a server that has not been tried cannot be signed in to yet', async () => {
  const process = await createPlace().start()
  const error = await thrownBy(
    process.signIns.signIn(specOf('hub', 'http://127.0.0.1:1/mcp'), browserWith(), { signal: forever() }),
  )
  expect(error).toMatchObject({ code: 'NOT_CONNECTED', advice: 'Reconnect it first: /mcp reconnect hub' })
})
