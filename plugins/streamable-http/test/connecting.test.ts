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

  it('to where nothing listens fails once and says so', async () => {
    const server = await LegacyServer.start()
    await server.http.down()
    await using client = await createClient(server.url)
    await expect(client.session.ready()).rejects.toMatchObject({
      code: 'CONNECT_FAILED',
      data: { unreachable: true },
    })
    expect(client.requests).toHaveLength(1)
  })
})
