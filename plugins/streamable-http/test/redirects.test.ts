import { describe, expect, it } from 'vitest'
import { connect, createClient, rejectionOf } from './client.ts'
import { LegacyServer } from './legacy-server.ts'
import { TestServer } from './server.ts'

const moved = { '/mcp': '/mcp/', '/mcp/': '/else?where=1' } as Record<string, string>

describe.concurrent('redirects', () => {
  it.for([307, 308])('inside the origin keep method, body and credentials (HTTP %i)', async (status) => {
    await using server = await LegacyServer.start((incoming) => {
      const location = moved[incoming.url]
      if (location === undefined) return undefined
      incoming.status(status, undefined, { location })
      return true
    })
    await using client = await connect(server.url, {
      transport: { headers: { authorization: 'Bearer token' } },
    })
    expect(await client.session.callTool('echo', { some: 'argument' })).toMatchObject({
      content: [{ text: 'hello' }],
    })
    const call = await server.called('tools/call', 3)
    expect(call).toMatchObject({
      method: 'POST',
      url: '/else?where=1',
      headers: { authorization: 'Bearer token' },
    })
    expect(call.body!.params).toMatchObject({ arguments: { some: 'argument' } })
    await server.http.requests.find(({ method, url }) => method === 'GET' && url === '/else?where=1')
  })

  it.for([301, 302, 303])('that would turn a POST into a GET are not followed (HTTP %i)', async (status) => {
    await using server = await LegacyServer.start((incoming) => {
      incoming.status(status, undefined, { location: '/else' })
      return true
    })
    await using client = await createClient(server.url)
    await expect(client.session.ready()).rejects.toMatchObject({
      code: 'CONNECT_FAILED',
      message: expect.stringContaining(`HTTP ${status}`),
    })
    expect(server.http.requests.items.every(({ url }) => url === '/mcp')).toBe(true)
  })

  it.for([301, 302, 303, 307, 308])(
    'of the event stream are followed inside the origin (HTTP %i)',
    async (status) => {
      await using server = await LegacyServer.start((incoming) => {
        if (incoming.method !== 'GET' || incoming.url !== '/mcp') return undefined
        incoming.status(status, undefined, { location: '/stream' })
        return true
      })
      await using client = await connect(server.url)
      await client.statuses.find(({ report }) => report.pushStream === 'open')
      expect((await server.asked('GET', 2)).url).toBe('/stream')
    },
  )

  it('to another origin are refused, with nothing but the origin named and nothing sent there', async () => {
    await using other = await TestServer.start(() => true)
    await using server = await LegacyServer.start((incoming) => {
      incoming.status(307, undefined, {
        location: `${other.origin.replace('//', '//user:password@')}/secret-path?secret=1`,
      })
      return true
    })
    await using client = await createClient(server.url, {
      transport: { headers: { authorization: 'Bearer token' } },
    })
    const error = await rejectionOf(client.session.ready())
    expect(error).toMatchObject({ code: 'CONNECT_FAILED', data: { redirect: other.origin } })
    expect(error.message).toBe(
      `${server.http.origin} redirects to another origin, ${other.origin}, which is not followed.`,
    )
    expect(other.requests.items).toEqual([])
  })

  it('end after five', async () => {
    let hops = 0
    await using server = await LegacyServer.start((incoming) => {
      if (incoming.body?.method !== 'initialize') return undefined
      incoming.status(307, undefined, { location: `/hop/${++hops}` })
      return true
    })
    await using client = await createClient(server.url)
    await expect(client.session.ready()).rejects.toMatchObject({
      message: `${server.http.origin} redirects more than 5 times.`,
    })
    expect(hops).toBe(6)
  })
})
