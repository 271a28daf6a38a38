import { describe, expect, it } from 'vitest'
import { connect, createClient, rejectionOf } from './client.ts'
import { event, LegacyServer, textResult } from './legacy-server.ts'
import type { Incoming } from './server.ts'

const isProbe = (incoming: Incoming): boolean => incoming.body?.method === 'server/discover'

describe.concurrent('the handshake with a legacy server', () => {
  const answers: Record<string, (incoming: Incoming) => void> = {
    'HTTP 400': (incoming) => incoming.status(400, 'Bad Request'),
    'HTTP 400 with a JSON-RPC error': (incoming) =>
      incoming.json(
        { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request: Server not initialized' } },
        400,
      ),
    'HTTP 404': (incoming) => incoming.status(404, '<html>Not Found</html>', { 'content-type': 'text/html' }),
    'HTTP 405': (incoming) => incoming.status(405),
    'HTTP 500': (incoming) => incoming.status(500, 'Traceback'),
    'an empty HTTP 200': (incoming) => incoming.status(200),
    'HTTP 202': (incoming) => incoming.status(202),
    'a page of HTML': (incoming) => incoming.status(200, '<html>', { 'content-type': 'text/html' }),
    'the error -32601': (incoming) =>
      incoming.json({
        jsonrpc: '2.0',
        id: incoming.body!.id,
        error: { code: -32601, message: 'Method not found' },
      }),
    silence: () => undefined,
    'an event stream that stays silent': (incoming) => void incoming.events(),
    'an event stream that ends': (incoming) => void incoming.events().end(),
    'a broken connection': (incoming) => void incoming.response.destroy(),
  }
  it.for(Object.keys(answers))('settles on it when the probe gets %s', async (name) => {
    await using server = await LegacyServer.start((incoming) => {
      if (!isProbe(incoming)) return undefined
      answers[name]!(incoming)
      return true
    })
    await using client = await connect(server.url, { requestTimeoutMs: 1_000 })
    expect(client.session.status).toMatchObject({
      state: 'connected',
      era: 'legacy',
      protocolVersion: '2025-06-18',
    })
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'hello' }] })
  })

  it.for([200, 202, 204])(
    'opens the event stream when notifications are answered with HTTP %i',
    async (status) => {
      await using server = await LegacyServer.start((incoming) => {
        if (incoming.body?.method !== 'notifications/initialized') return undefined
        incoming.status(status)
        return true
      })
      await using client = await connect(server.url)
      const get = await server.asked('GET')
      expect(get.headers).toMatchObject({
        accept: 'text/event-stream',
        'mcp-session-id': 'session-1',
        'mcp-protocol-version': '2025-06-18',
      })
      expect(get.headers['content-type']).toBeUndefined()
      await client.statuses.find((each) => each.report.pushStream === 'open')
    },
  )

  it('never opens the event stream when it is stopped during the handshake', async () => {
    await using server = await LegacyServer.start((incoming) => incoming.body?.method === 'initialize')
    await using client = await createClient(server.url)
    client.session.start()
    const initialize = await server.called('initialize')
    await client.session.close()
    await initialize.closed
    expect(server.http.all('GET')).toEqual([])
    expect(client.session.status.state).toBe('disabled')
  })

  it('sends DELETE with the session when it closes, and nothing after it', async () => {
    await using server = await LegacyServer.start()
    const client = await connect(server.url)
    const get = await server.asked('GET')
    await client.session.close()
    await get.closed
    expect(server.http.requests.items.at(-1)).toMatchObject({
      method: 'DELETE',
      headers: { 'mcp-session-id': 'session-1' },
    })
    expect(server.sessions.size).toBe(0)
  })

  it('leaves no stream open, not even that of a call which was answered long ago', async () => {
    await using server = await LegacyServer.start((incoming) => {
      if (incoming.body?.method !== 'tools/call') return undefined
      incoming.events().write(event({ jsonrpc: '2.0', id: incoming.body.id, result: textResult('early') }))
      return true
    })
    const client = await connect(server.url)
    await client.session.callTool('echo', {})
    const { closed } = await server.called('tools/call')
    await client.session.close()
    await expect(closed).resolves.toBeUndefined()
  })

  it('closes within its bound although the server is silent to DELETE, and calls under way fail at once', async () => {
    await using server = await LegacyServer.start(
      ({ method, body }) => method === 'DELETE' || body?.method === 'tools/call',
    )
    const client = await connect(server.url)
    const call = rejectionOf(client.session.callTool('echo', {}))
    await server.called('tools/call')
    const began = Date.now()
    const closed = client.session.close()
    expect(await call).toMatchObject({ code: 'CONNECTION_CLOSED' })
    expect(Date.now() - began).toBeLessThan(900)
    await closed
    expect(Date.now() - began).toBeLessThan(2_500)
  })
})
