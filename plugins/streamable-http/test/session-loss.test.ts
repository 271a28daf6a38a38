import { describe, expect, it } from 'vitest'
import { connect } from './client.ts'
import { LegacyServer } from './legacy-server.ts'
import type { Incoming } from './server.ts'

const isCall = (incoming: Incoming): boolean => incoming.body?.method === 'tools/call'
const inFirstSession = (incoming: Incoming): boolean => incoming.headers['mcp-session-id'] === 'session-1'

describe.concurrent('a session that the server forgot', () => {
  it('is opened again once for many calls, and each is sent once more', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url)
    await server.asked('GET')
    server.sessions.clear()
    const results = await Promise.all([1, 2, 3, 4].map(() => client.session.callTool('echo', {})))
    expect(results).toEqual(Array.from({ length: 4 }, () => ({ content: [{ type: 'text', text: 'hello' }] })))
    expect(server.calls('initialize')).toHaveLength(2)
    expect(server.calls('initialize')[1]!.headers['mcp-session-id']).toBeUndefined()
    const accepted = server
      .calls('tools/call')
      .filter(({ headers }) => headers['mcp-session-id'] === 'session-2')
    expect(accepted).toHaveLength(4)
    // There is nothing to say goodbye to.
    expect(server.http.all('DELETE')).toEqual([])
  })

  it.for([
    'Bad Request: No valid session ID provided',
    'Bad Request: Server not initialized',
    'Session not found',
    'Invalid session ID',
    'Mcp-Session-Id header is required: session is required',
  ])('is noticed from HTTP 400 with "%s"', async (message) => {
    await using server = await LegacyServer.start((incoming) => {
      if (!isCall(incoming) || !inFirstSession(incoming)) return undefined
      incoming.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }, 400)
      return true
    })
    await using client = await connect(server.url)
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'hello' }] })
    expect(server.calls('initialize')).toHaveLength(2)
  })

  it.for([
    [404, JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32601, message: 'Method not found' } })],
    [
      400,
      JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32602, message: 'Invalid arguments' } }),
    ],
    [400, 'the session is gone, says somebody who does not speak JSON-RPC'],
  ] as const)('is not suspected behind HTTP %i %s', async ([status, body]) => {
    await using server = await LegacyServer.start((incoming) => {
      if (!isCall(incoming)) return undefined
      incoming.status(status, body)
      return true
    })
    await using client = await connect(server.url)
    await expect(client.session.callTool('echo', {})).rejects.toMatchObject({
      code: 'CONNECT_FAILED',
      data: { status },
    })
    expect(server.calls('initialize')).toHaveLength(1)
  })

  it('that is lost again in the second try ends as an error', async () => {
    await using server = await LegacyServer.start((incoming) => {
      if (!isCall(incoming)) return undefined
      incoming.status(404)
      return true
    })
    await using client = await connect(server.url)
    await expect(client.session.callTool('echo', {})).rejects.toMatchObject({
      code: 'SESSION_LOST',
      data: { status: 404 },
    })
    expect(server.calls('tools/call')).toHaveLength(2)
  })

  it('is noticed by the event stream although nobody calls', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    server.push('custom/first', 'id-1')
    await client.notifications.count(1)
    server.sessions.clear()
    for (const stream of server.streams) stream.destroy()
    const refused = await server.asked('GET', 2)
    expect(refused.headers['last-event-id']).toBe('id-1')
    await server.called('initialize', 2)
    const reopened = await server.asked('GET', 3)
    // The ids belonged to the session.
    expect(reopened.headers).toMatchObject({ 'mcp-session-id': 'session-2' })
    expect(reopened.headers['last-event-id']).toBeUndefined()
    server.push('custom/second')
    await client.notifications.find(({ method }) => method === 'custom/second')
  })

  it('is noticed by a notification that the server refuses', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url)
    server.sessions.clear()
    await expect(
      client.transports[0]!.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }),
    ).rejects.toMatchObject({
      code: 'SESSION_LOST',
    })
    await server.called('initialize', 2)
  })

  it('is not opened again and again for a server that answers 404 to every GET', async () => {
    await using server = await LegacyServer.start(({ method, status }) => {
      if (method !== 'GET') return undefined
      status(404, 'Cannot GET /mcp')
      return true
    })
    await using client = await connect(server.url)
    await client.statuses.find(({ report }) => report.pushStream === 'none')
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'hello' }] })
    expect(server.calls('initialize')).toHaveLength(1)
    expect(server.http.all('GET')).toHaveLength(1)
  })
})
