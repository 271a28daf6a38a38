import type { Plugin } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { connect } from './client.ts'
import { LegacyServer } from './legacy-server.ts'
import type { Incoming } from './server.ts'

/** A server whose n-th GET is answered by `answer`, or as usual when that does not answer it. */
const start = (answer: (nth: number, incoming: Incoming) => boolean | undefined): Promise<LegacyServer> => {
  let nth = 0
  return LegacyServer.start((incoming) => (incoming.method === 'GET' ? answer(++nth, incoming) : undefined))
}

/** Says in front of each GET that somebody has to sign in, for as long as `isNeeded` does. */
const signInFor = (isNeeded: () => boolean): Plugin => ({
  name: 'signing-in',
  api: 1,
  setup: ({ hooks }) =>
    hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
      request.fetch = (url, init) => {
        if (init.method !== 'GET' || !isNeeded()) return fetch(url, init)
        const advice = 'Sign in with /mcp login subject.'
        const data = { status: 401, signIn: true }
        throw request.error('AUTH_FAILED', 'The server wants you to sign in.', { advice, data })
      }
      return undefined
    }),
})

describe.concurrent('an event stream', () => {
  it.for([404, 405, 501])(
    'is not there when GET is answered with HTTP %i, which is said once',
    async (status) => {
      await using server = await start((_nth, incoming) => {
        incoming.status(status)
        return true
      })
      await using client = await connect(server.url, { transport: { sseIdleTimeoutMs: 50 } })
      await client.statuses.find(({ report }) => report.pushStream === 'none')
      // On a slow machine the silence is over before the first answer is there.
      const asked = server.http.all('GET').length
      for (let index = 0; index < 5; index++) await client.session.callTool('echo', {})
      expect(client.statuses.items.filter(({ report }) => report.pushStream === 'none')).toHaveLength(1)
      expect(server.http.all('GET')).toHaveLength(asked)
      expect(client.session.status).toMatchObject({ state: 'connected', report: { pushStream: 'none' } })
      expect(client.errors).toEqual([])
    },
  )

  it.for([
    ['a page of HTML', 200, 'text/html'],
    ['an empty answer', 204, undefined],
  ] as const)('is not there when GET is answered with %s', async ([, status, type]) => {
    await using server = await start((_nth, incoming) => {
      incoming.status(status, status === 204 ? undefined : '<html>', type ? { 'content-type': type } : {})
      return true
    })
    await using client = await connect(server.url)
    await client.statuses.find(({ report }) => report.pushStream === 'none')
    expect(server.http.all('GET')).toHaveLength(1)
  })

  it.for([401, 403])('that is refused at first with HTTP %i leaves the tools alone', async (status) => {
    const errors: Error[] = []
    await using server = await start((_nth, incoming) => {
      client.transports[0]!.onerror = (error) => errors.push(error)
      incoming.status(status, 'secret-of-the-body')
      return true
    })
    await using client = await connect(server.url)
    await client.statuses.find(({ report }) => report.pushStream === 'none')
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'hello' }] })
    expect(server.http.all('GET')).toHaveLength(1)
    expect(errors).toEqual([expect.objectContaining({ code: 'AUTH_FAILED', data: { status } })])
  })

  it('that is refused later for its credentials has the connection made anew, with fresh ones', async () => {
    await using server = await start((nth, incoming) => {
      if (nth !== 2) return undefined
      incoming.status(401)
      return true
    })
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    for (const stream of server.streams) stream.end()
    await server.called('initialize', 2)
    expect(client.requests).toHaveLength(2)
  })

  it('that is refused with fresh credentials too is said once, and the tools are left alone', async () => {
    await using server = await start((nth, incoming) => {
      if (nth === 1) return undefined
      incoming.status(401)
      return true
    })
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    for (const stream of server.streams) stream.end()
    const { state, reason, attention } = await client.statuses.find((each) => each.attention !== undefined)
    expect({ state, reason, attention }).toEqual({
      state: 'connected',
      reason: 'its pushes do not arrive: The server refused the credentials (HTTP 401).',
      attention: 'Give its entry the Authorization header that it wants, then /mcp reconnect it.',
    })
    await client.session.callTool('echo', {})
    expect(client.requests).toHaveLength(2)
    expect(client.errors).toEqual([expect.objectContaining({ code: 'PUSHES_REFUSED' })])
  })

  it('that wants a sign-in is said once, tried on quietly, and forgotten when it is open again', async () => {
    let isNeeded = false
    const asked: number[] = []
    const plugins = [signInFor(() => isNeeded && asked.push(Date.now()) > 0)]
    await using server = await start(() => undefined)
    await using client = await connect(server.url, { plugins, refundAfterMs: 50 })
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    isNeeded = true
    for (const stream of server.streams) stream.end()
    const refused = await client.statuses.find((each) => each.attention !== undefined)
    expect(refused).toMatchObject({
      state: 'connected',
      reason: 'its pushes do not arrive: The server wants you to sign in.',
      attention: 'Sign in with /mcp login subject.',
      signIn: true,
    })
    while (asked.length < 6) await client.session.request('ping')
    isNeeded = false
    await client.statuses.find(({ report }) => report.pushStream === 'open', 2)
    expect(client.session.status).not.toHaveProperty('attention')
    expect(client.session.status).not.toHaveProperty('reason')
    expect(client.session.status).not.toHaveProperty('signIn')
    expect(client.errors).toEqual([expect.objectContaining({ code: 'PUSHES_REFUSED' })])
    expect(client.requests).toHaveLength(2)
  })

  it('whose headers do not come is asked for again', async () => {
    await using server = await start((nth) => (nth === 1 ? true : undefined))
    await using client = await connect(server.url, { transport: { sseIdleTimeoutMs: 200 } })
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    expect(server.http.all('GET')).toHaveLength(2)
    expect(client.errors).toEqual([])
  })

  it('that is refused for a while is asked for with growing pauses', async () => {
    const at: number[] = []
    await using server = await start((nth, incoming) => {
      at.push(Date.now())
      if (nth > 3) return undefined
      incoming.status(503, undefined, { 'retry-after': '0' })
      return true
    })
    await using client = await connect(server.url, { reconnect: { maxMs: 10_000 } })
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    const pauses = at.slice(1).map((time, index) => time - at[index]!)
    expect(pauses[0]).toBeGreaterThan(350)
    expect(pauses[1]).toBeGreaterThan(750)
    expect(pauses[2]).toBeGreaterThan(1_550)
    await client.stale.count(2)
  })

  it('forgets an id that the server does not like', async () => {
    await using server = await start((_nth, incoming) => {
      if (incoming.headers['last-event-id'] === undefined) return undefined
      incoming.json(
        { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Invalid event ID format' } },
        400,
      )
      return true
    })
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    server.push('custom/one', 'id-1')
    await client.notifications.count(1)
    for (const stream of server.streams) stream.destroy()
    await client.stale.count(2)
    expect(server.http.all('GET')).toHaveLength(3)
  })
})
