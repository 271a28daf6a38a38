import { describe, expect, it } from 'vitest'
import { createClient, rejectionOf, shownOf } from './client.ts'
import { LegacyServer } from './legacy-server.ts'

const SECRET = 'secret-of-the-body'

describe.concurrent('connecting', () => {
  it.for([
    [401, 'auth_failed', 'AUTH_FAILED'],
    [403, 'auth_failed', 'AUTH_FAILED'],
    [404, 'reconnecting', 'CONNECT_FAILED'],
    [429, 'reconnecting', 'CONNECT_FAILED'],
    [503, 'reconnecting', 'CONNECT_FAILED'],
  ] as const)('to a server that answers HTTP %i ends as %s', async ([status, state, code]) => {
    await using server = await LegacyServer.start((incoming) => {
      incoming.status(status, SECRET)
      return true
    })
    await using client = await createClient(server.url)
    const error = await rejectionOf(client.session.ready())
    expect(error).toMatchObject({ code, data: { status } })
    expect(shownOf(error)).not.toContain(SECRET)
    expect(client.session.status.state).toBe(state)
  })

  it('gets HTTP 401 on initialize alone as a matter of credentials', async () => {
    await using server = await LegacyServer.start((incoming) => {
      if (incoming.body?.method !== 'initialize') return undefined
      incoming.status(401)
      return true
    })
    await using client = await createClient(server.url)
    await expect(client.session.ready()).rejects.toMatchObject({ code: 'AUTH_FAILED', data: { status: 401 } })
    expect(server.calls('initialize')).toHaveLength(1)
  })

  it.for([
    [401, { headers: { authorization: 'Bearer wrong' } }, 'its credential', /^Fix the Authorization header/],
    [403, { headers: { Authorization: 'Bearer wrong' } }, 'its credential', /that may do this/],
    [401, { auth: { kind: 'bearer', ref: 'X' } }, 'its credential', /"tapline login subject --token", then/],
    [403, { auth: { kind: 'bearer', ref: 'X' } }, 'its credential', /"tapline login subject --token", then/],
    [
      401,
      { headers: { 'x-api-key': 'wrong' } },
      'the credentials',
      /Give its entry the Authorization header/,
    ],
    [403, {}, 'the credentials', /Look at what you may do there/],
  ] as const)(
    'with a credential that gets HTTP %i says what to do about that very credential (%o)',
    async ([status, transport, what, advice]) => {
      await using server = await LegacyServer.start((incoming) => {
        incoming.status(status)
        return true
      })
      await using client = await createClient(server.url, { transport })
      const error = await rejectionOf(client.session.ready())
      expect(error).toMatchObject({
        message: `The server refused ${what} (HTTP ${status}).`,
        advice: expect.stringMatching(advice),
      })
      // It is not by signing in that a credential of the entry's own gets better.
      expect(`${error.message} ${client.session.status.attention}`).not.toMatch(/sign/i)
      expect(client.session.status.signIn).toBeUndefined()
    },
  )

  it('to a port that HTTP clients keep away from is not tried again, and nobody has acted', async () => {
    await using client = await createClient('http://127.0.0.1:9/mcp')
    const error = await rejectionOf(client.session.ready())
    expect(error).toMatchObject({
      code: 'CONNECT_FAILED',
      message: 'http://127.0.0.1:9 cannot be reached: its port is one that is kept for other protocols.',
      data: { unreachable: true, lasting: true },
    })
    expect(client.session.status).toMatchObject({
      state: 'disconnected',
      attention: expect.stringMatching(/another port/),
    })
    expect(client.requests).toHaveLength(1)
  })

  it('to a server that breaks off during the handshake speaks of no call that may have been made', async () => {
    await using server = await LegacyServer.start((incoming) => {
      incoming.response.destroy()
      return true
    })
    await using client = await createClient(server.url, { reconnect: { maxAttempts: 1 } })
    const error = await rejectionOf(client.session.ready())
    expect(error).toMatchObject({
      code: 'CONNECTION_CLOSED',
      message: 'The connection broke before the server had answered.',
    })
    expect(client.session.status.attention).not.toMatch(/acted/)
  })

  it('to where nothing listens is tried again twice, in one era, and says so', async () => {
    const server = await LegacyServer.start()
    await server.http.down()
    await using client = await createClient(server.url)
    await expect(client.session.ready()).rejects.toMatchObject({
      code: 'CONNECT_FAILED',
      data: { unreachable: true },
    })
    expect(client.requests).toHaveLength(3)
    expect(client.requests.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
  })
})
