import { expect, test } from 'vitest'
import type { ConnectRequest } from '@tapline/core'
import {
  ask,
  createPlace,
  type Place,
  specOf,
  startAuthority,
  startPeer,
  startProtected,
  thrownBy,
  SWITCHED_OFF,
} from './place.ts'

/** A signed-in server: what it takes, and what is stored. */
async function signedIn(place: Place, more: object = {}) {
  const authority = await startAuthority()
  const server = await startProtected(authority)
  const key = `mcp__hub|${server.url}`
  const entry = {
    serverUrl: server.url,
    clientInformation: { client_id: 'c', redirect_uris: [] },
    tokens: {
      access_token: 'access-old',
      token_type: 'Bearer',
      expires_in: 600,
      refresh_token: 'refresh-old',
      scope: 'read',
    },
    tokensExpireAt: Date.now() + 600_000,
    discovery: {
      authorizationServerUrl: authority.peer.origin,
      authorizationServerMetadata: authority.metadata,
      resourceMetadata: server.resource,
    },
    ...more,
  }
  place.store({ [key]: entry })
  return { authority, server, key, spec: specOf('hub', server.url) }
}

test('sends the stored token, and masks it', async () => {
  const place = createPlace()
  const { server, spec } = await signedIn(place)
  server.takes.add('access-old')
  const request = await (await place.start()).connect(spec)
  expect(await (await ask(request, server.url)).json()).toEqual({ token: 'access-old' })
  expect(request.headers).toEqual({})
  expect([...(request.secrets ?? [])].toSorted()).toEqual(['access-old', 'refresh-old'])
})

test.each<[string, Partial<ConnectRequest>, object]>([
  ['a header of the entry', {}, { headers: { AUTHORIZATION: 'Basic x' } }],
  ['a header of another tap', { headers: { Authorization: 'Bearer x' } }, {}],
  ['a reference', {}, { auth: { kind: 'bearer', ref: 'x' } }],
  ['the credential of a provider', {}, { extra: { auth: { provider: 'x' } } }],
])('leaves a server alone that has %s', async (_what, more, transport) => {
  const place = createPlace()
  const { signIns, connect } = await place.start()
  const spec = specOf('hub', 'http://127.0.0.1:1/mcp', transport)
  expect((await connect(spec, more)).fetch).toBeUndefined()
  // What another tap adds, only connecting shows.
  expect(signIns.uses(spec)).toBe(more.headers !== undefined)
})

test('sends no token to another origin', async () => {
  const place = createPlace()
  const { server, spec } = await signedIn(place)
  server.takes.add('access-old')
  const other = await startPeer(() => ({ json: {} }))
  const request = await (await place.start()).connect(spec)
  await ask(request, `${other.origin}/mcp`)
  expect(other.received[0]?.headers.authorization).toBeUndefined()
})

test('renews a token that is about to expire before anything is sent', async () => {
  const place = createPlace()
  const { authority, server, spec, key } = await signedIn(place, { tokensExpireAt: Date.now() + 5_000 })
  server.takes.add('access-1')
  const request = await (await place.start()).connect(spec)
  expect(authority.peer.to('/token')).toHaveLength(1)
  expect(await (await ask(request, server.url)).json()).toEqual({ token: 'access-1' })
  expect(Object.fromEntries(authority.peer.to('/token')[0]?.form ?? [])).toEqual({
    grant_type: 'refresh_token',
    refresh_token: 'refresh-old',
    client_id: 'c',
    resource: server.url,
  })
  expect(server.peer.to('/mcp')).toHaveLength(1)
  expect(place.stored()[key]).toMatchObject({
    // An answer without a scope keeps the one that was granted.
    tokens: {
      access_token: 'access-1',
      refresh_token: 'refresh-1',
      scope: 'read',
      issuer: authority.peer.origin,
    },
    tokensExpireAt: expect.closeTo(Date.now() + 600_000, -4),
  })
})

test('renews once after a refusal, however many ask, and sends each request again', async () => {
  const place = createPlace()
  const { authority, server, spec } = await signedIn(place)
  server.takes.add('access-1')
  const request = await (await place.start()).connect(spec)
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(request, server.url)))
  for (const answer of answers) expect(await answer.json()).toEqual({ token: 'access-1' })
  expect(authority.peer.to('/token')).toHaveLength(1)
})

test('keeps the refresh token when no new one is given', async () => {
  const place = createPlace()
  const { authority, server, spec, key } = await signedIn(place)
  authority.token = () => ({
    json: { access_token: 'access-new', token_type: 'bearer', refresh_token: null, scope: '' },
  })
  server.takes.add('access-new')
  await ask(await (await place.start()).connect(spec), server.url)
  expect(place.stored()[key]?.tokens).toMatchObject({
    access_token: 'access-new',
    refresh_token: 'refresh-old',
    scope: 'read',
  })
  expect(place.stored()[key]).not.toHaveProperty('tokensExpireAt')
})

test('uses what another process has put there instead of renewing', async () => {
  const place = createPlace()
  const { authority, server, spec, key } = await signedIn(place)
  server.takes.add('access-theirs')
  server.refusal = () => {
    const entry = place.stored()[key] ?? {}
    place.store({ [key]: { ...entry, tokens: { ...entry.tokens, access_token: 'access-theirs' } } })
    return { status: 401 }
  }
  const request = await (await place.start()).connect(spec)
  expect(await (await ask(request, server.url)).json()).toEqual({ token: 'access-theirs' })
  expect(authority.peer.to('/token')).toHaveLength(0)
})

test('deletes tokens that are refused for good, and says how to sign in', async () => {
  const place = createPlace()
  const { authority, server, spec, key } = await signedIn(place)
  authority.token = () => ({ status: 400, json: { error: 'invalid_grant', error_description: 'gone' } })
  const request = await (await place.start()).connect(spec)
  const error = await thrownBy(ask(request, server.url))
  expect(error).toMatchObject({
    code: 'AUTH_FAILED',
    message: 'The server wants you to sign in.',
    advice: 'Sign in with /mcp login hub, or in a shell with: tapline login hub',
    data: { status: 401 },
  })
  expect(place.stored()[key]).toMatchObject({ clientInformation: { client_id: 'c' } })
  expect(place.stored()[key]).not.toHaveProperty('tokens')
})

test('does not delete what somebody else has put there while the refusal was on its way', async () => {
  const place = createPlace()
  const { authority, server, spec, key } = await signedIn(place)
  server.takes.add('access-theirs')
  authority.token = () => {
    const entry = place.stored()[key] ?? {}
    place.store({
      [key]: {
        ...entry,
        tokens: { access_token: 'access-theirs', token_type: 'Bearer', refresh_token: 'theirs' },
      },
    })
    return { status: 400, json: { error: 'invalid_grant' } }
  }
  const request = await (await place.start()).connect(spec)
  expect(await (await ask(request, server.url)).json()).toEqual({ token: 'access-theirs' })
  expect(place.stored()[key]?.tokens).toMatchObject({ refresh_token: 'theirs' })
})

test('does not bring back what was signed out of during a renewal', async () => {
  const place = createPlace()
  const { authority, server, spec } = await signedIn(place)
  authority.token = () => {
    place.store({})
    return { json: { access_token: 'late', token_type: 'Bearer' } }
  }
  const request = await (await place.start()).connect(spec)
  await thrownBy(ask(request, server.url))
  expect(place.stored()).toEqual({})
})

test('forgets a client that the authorization server no longer knows', async () => {
  const place = createPlace()
  const { authority, server, spec, key } = await signedIn(place)
  authority.token = () => ({ status: 401, json: { error: 'invalid_client' } })
  await thrownBy(ask(await (await place.start()).connect(spec), server.url))
  expect(place.stored()[key]).toEqual({ serverUrl: server.url })
})

test.each([
  ['breaks down', { status: 503, text: '<html>secret-page</html>' }],
  ['says so', { status: 400, json: { error: 'temporarily_unavailable' } }],
])('keeps the tokens when the authorization server %s', async (_what, answer) => {
  const place = createPlace()
  const { authority, server, spec, key } = await signedIn(place)
  authority.token = () => answer
  const request = await (await place.start()).connect(spec)
  const error = await thrownBy(ask(request, server.url))
  expect(error).toMatchObject({ code: 'CONNECT_FAILED' })
  expect(error.message).toMatch(/^The sign-in could not be renewed: /)
  expect(String(error)).not.toContain('secret-page')
  expect(place.stored()[key]?.tokens).toMatchObject({ refresh_token: 'refresh-old' })
  // It is not asked again by every request.
  await thrownBy(ask(request, server.url))
  expect(authority.peer.to('/token')).toHaveLength(1)
})

test('a refresh token goes to nobody but who gave it', async () => {
  const place = createPlace()
  const { authority, server, spec } = await signedIn(place, {
    tokens: {
      access_token: 'a-1',
      token_type: 'Bearer',
      refresh_token: 'r-1',
      issuer: 'https://other.example',
    },
  })
  const error = await thrownBy(ask(await (await place.start()).connect(spec), server.url))
  expect(error.code).toBe('AUTH_FAILED')
  expect(authority.peer.received).toEqual([])
})

test('a token that is refused although it is fresh needs a person', async () => {
  const place = createPlace()
  const { authority, server, spec } = await signedIn(place)
  const error = await thrownBy(ask(await (await place.start()).connect(spec), server.url))
  expect(error.message).toBe('The server wants you to sign in.')
  expect(authority.peer.to('/token')).toHaveLength(1)
  expect(server.peer.to('/mcp').map(({ headers }) => headers.authorization)).toEqual([
    'Bearer access-old',
    'Bearer access-1',
  ])
})

test('a demand for more permissions is told with its scopes, and costs no renewal', async () => {
  const place = createPlace()
  const { authority, server, spec } = await signedIn(place)
  server.refusal = () => ({
    status: 403,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write admin"' },
  })
  const error = await thrownBy(ask(await (await place.start()).connect(spec), server.url))
  expect(error).toMatchObject({
    code: 'AUTH_FAILED',
    message:
      'The server wants more permissions than the last sign-in gave (write admin): /mcp login hub asks for them.',
    data: { status: 403 },
  })
  expect(authority.peer.received).toEqual([])
})

test('any other answer is handed on as it is', async () => {
  const place = createPlace()
  const { server, spec } = await signedIn(place)
  server.refusal = () => ({ status: 403, text: 'no' })
  const request = await (await place.start()).connect(spec)
  expect((await ask(request, server.url)).status).toBe(403)
  server.refusal = () => ({ status: 500 })
  expect((await ask(request, server.url)).status).toBe(500)
})

test('the goodbye of a session renews nothing', async () => {
  const place = createPlace()
  const { authority, server, spec } = await signedIn(place)
  const request = await (await place.start()).connect(spec)
  const end = { method: 'DELETE', body: null }
  expect((await ask(request, server.url, end)).status).toBe(401)
  expect(server.peer.to('/mcp')).toHaveLength(1)
  expect(authority.peer.received).toEqual([])
})

test('a credential that a later tap adds goes before the token', async () => {
  const place = createPlace()
  const { server, spec } = await signedIn(place)
  server.takes.add('theirs')
  const request = await (await place.start()).connect(spec)
  const headers = { authorization: 'Bearer theirs' }
  expect(await (await ask(request, server.url, { headers })).json()).toEqual({ token: 'theirs' })
})

test('a request that is given up leaves the renewal to the others', async () => {
  const place = createPlace()
  const { authority, server, spec } = await signedIn(place)
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  authority.token = async () => {
    asked.resolve()
    await gate.promise
    return { json: { access_token: 'access-1', token_type: 'Bearer' } }
  }
  server.takes.add('access-1')
  const request = await (await place.start()).connect(spec)
  const impatient = new AbortController()
  const first = thrownBy(ask(request, server.url, { signal: impatient.signal }))
  const second = ask(request, server.url)
  await asked.promise
  impatient.abort(new Error('given up'))
  expect((await first).message).toBe('given up')
  gate.resolve()
  expect(await (await second).json()).toEqual({ token: 'access-1' })
})

test('the end of a process waits for a renewal that is under way, so that its answer is kept', async () => {
  const place = createPlace()
  const { authority, server, spec, key } = await signedIn(place)
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  authority.token = async () => {
    asked.resolve()
    await gate.promise
    return { json: { access_token: 'access-1', token_type: 'Bearer', refresh_token: 'rotated' } }
  }
  const process = await place.start()
  const request = await process.connect(spec)
  void ask(request, server.url).catch(() => undefined)
  await asked.promise
  const ended = process.dispose()
  gate.resolve()
  await ended
  expect(place.stored()[key]?.tokens).toMatchObject({ refresh_token: 'rotated' })
})

test('connects again when another process has signed in, and nothing else', async () => {
  const place = createPlace()
  const [one, two] = [await startProtected(), await startProtected()]
  const process = await place.start()
  for (const [name, { url }] of [['one', one] as const, ['two', two] as const])
    await thrownBy(ask(await process.connect(specOf(name, url)), url))
  const entry = (url: string) => ({ serverUrl: url, tokens: { access_token: 'new', token_type: 'Bearer' } })
  place.store({ [`mcp__two|${two.url}`]: entry(two.url) })
  await expect.poll(() => process.reconnected, { timeout: 5_000 }).toEqual(['two'])
  place.store({ [`mcp__two|${two.url}`]: entry(two.url), [`mcp__one|${one.url}`]: entry(one.url) })
  await expect.poll(() => process.reconnected, { timeout: 5_000 }).toEqual(['two', 'one'])
})

test('connects no server again that has been switched off meanwhile', async () => {
  const place = createPlace()
  const [off, on] = [await startProtected(), await startProtected()]
  const process = await place.start()
  const entries: Record<string, unknown> = {}
  for (const [name, { url }] of [[SWITCHED_OFF, off] as const, ['on', on] as const]) {
    await thrownBy(ask(await process.connect(specOf(name, url)), url))
    entries[`mcp__${name}|${url}`] = {
      serverUrl: url,
      tokens: { access_token: 'new', token_type: 'Bearer' },
    }
  }
  place.store(entries)
  await expect.poll(() => process.reconnected, { timeout: 5_000 }).toContain('on')
  expect(process.reconnected).toEqual(['on'])
})

test('a server that wants nothing is asked without a token, and nothing is read or written for it', async () => {
  const place = createPlace()
  const open = await startPeer(() => ({ json: { open: true } }))
  const request = await (await place.start()).connect(specOf('hub', `${open.origin}/mcp`))
  expect(await (await ask(request, `${open.origin}/mcp`)).json()).toEqual({ open: true })
  expect(open.received[0]?.headers.authorization).toBeUndefined()
  expect(place.stored()).toEqual({})
})
