import type { Plugin } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { connect } from './client.ts'
import { event, LegacyServer, textResult } from './legacy-server.ts'
import type { Incoming } from './server.ts'

/** A server whose tool calls begin with an event that has an id, and end before the answer. */
async function priming(
  get: (incoming: Incoming, call: Incoming) => void,
  end: (call: Incoming) => void,
): Promise<LegacyServer> {
  let call: Incoming | undefined
  return LegacyServer.start((incoming) => {
    if (incoming.body?.method === 'tools/call') {
      call = incoming
      incoming.events().write('id: call-1\nretry: 50\ndata: \n\n', () => end(incoming))
      return true
    }
    if (incoming.method !== 'GET' || !String(incoming.headers['last-event-id']).startsWith('call-'))
      return undefined
    get(incoming, call!)
    return true
  })
}

const answer = (incoming: Incoming, call: Incoming): void =>
  void incoming
    .events()
    .end(event({ jsonrpc: '2.0', id: call.body!.id, result: textResult('resumed') }, 'call-3'))

describe.concurrent('the event stream of a call', () => {
  const endings: readonly [string, (call: Incoming) => void][] = [
    ['ends', (call) => void call.response.end()],
    ['breaks', (call) => void call.response.destroy()],
  ]
  it.for(endings)(
    'that %s early is resumed by its last id, and the call is not sent again',
    async ([, end]) => {
      await using server = await priming(answer, end)
      await using client = await connect(server.url)
      expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'resumed' }] })
      expect(server.calls('tools/call')).toHaveLength(1)
      const resumptions = server.http
        .all('GET')
        .filter(({ headers }) => headers['last-event-id'] !== undefined)
      expect(resumptions.map(({ headers }) => headers['last-event-id'])).toEqual(['call-1'])
      expect(resumptions[0]!.headers).toMatchObject({
        accept: 'text/event-stream',
        'mcp-session-id': 'session-1',
      })
      expect(client.stale.items).toHaveLength(1)
    },
  )

  it('is resumed again from the same id when the resumed stream carried nothing', async () => {
    let times = 0
    await using server = await priming(
      (incoming, call) => (++times < 3 ? void incoming.events().end() : answer(incoming, call)),
      (call) => call.response.end(),
    )
    await using client = await connect(server.url)
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'resumed' }] })
    expect(times).toBe(3)
  })

  it('keeps its ids to itself', async () => {
    await using server = await priming(answer, (call) => call.response.end())
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    server.push('custom/one', 'push-1')
    await client.notifications.count(1)
    await client.session.callTool('echo', {})
    for (const stream of server.streams) stream.destroy()
    const get = await server.asked('GET', 3)
    expect(get.headers['last-event-id']).toBe('push-1')
  })

  it.for([
    [405, 'CONNECTION_CLOSED', 1],
    [400, 'CONNECTION_CLOSED', 1],
    [404, 'CONNECTION_CLOSED', 2],
  ] as const)(
    'whose resumption is refused with HTTP %i ends the call, which may have been heard',
    async ([status, code, sessions]) => {
      await using server = await priming(
        (incoming) => incoming.status(status),
        (call) => call.response.end(),
      )
      await using client = await connect(server.url)
      await expect(client.session.callTool('echo', {})).rejects.toMatchObject({ code })
      expect(server.calls('tools/call')).toHaveLength(1)
      await server.called('initialize', sessions)
    },
  )

  it('whose resumption nobody is signed in for ends the call', async () => {
    const refusing: Plugin = {
      name: 'refusing',
      api: 1,
      setup: ({ hooks }) =>
        hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
          request.fetch = async (url, init) => {
            if (!new Headers(init.headers).has('last-event-id')) return fetch(url, init)
            throw request.error('AUTH_FAILED', 'Somebody has to sign in.', { data: { status: 401 } })
          }
          return undefined
        }),
    }
    await using server = await priming(answer, (call) => call.response.end())
    await using client = await connect(server.url, { plugins: [refusing] })
    await expect(client.session.callTool('echo', {})).rejects.toMatchObject({
      code: 'CONNECTION_CLOSED',
      data: { outcome: 'unknown' },
    })
    expect(server.calls('tools/call')).toHaveLength(1)
  })

  it('is resumed over an outage, until nobody waits any more', async () => {
    await using server = await priming(
      (incoming) => incoming.status(503),
      (call) => call.response.end(),
    )
    await using client = await connect(server.url, { requestTimeoutMs: 1_000, reconnect: { maxMs: 100 } })
    await expect(client.session.callTool('echo', {})).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
    await server.called('notifications/cancelled')
    await client.session.request('ping')
    const asked = server.http.all('GET').length
    expect(asked).toBeGreaterThan(4)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(server.http.all('GET')).toHaveLength(asked)
  })

  it('is let go when it stays open and silent after the answer', async () => {
    await using server = await LegacyServer.start((incoming) => {
      if (incoming.body?.method !== 'tools/call') return undefined
      incoming.events().write(event({ jsonrpc: '2.0', id: incoming.body.id, result: textResult('early') }))
      return true
    })
    await using client = await connect(server.url, { transport: { sseIdleTimeoutMs: 200 } })
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'early' }] })
    const { response, closed } = await server.called('tools/call')
    response.write(event({ jsonrpc: '2.0', method: 'custom/afterthought' }))
    await client.notifications.count(1)
    await closed
  })
})
