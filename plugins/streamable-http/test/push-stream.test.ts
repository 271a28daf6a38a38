import { describe, expect, it } from 'vitest'
import { connect } from './client.ts'
import { event, LegacyServer } from './legacy-server.ts'

describe.concurrent('the event stream', () => {
  it('that is silent is reopened quietly: no error, no handshake, no new tool list, calls undisturbed', async () => {
    await using server = await LegacyServer.start()
    // Long beside what a busy machine takes to open a stream: one that is not open within it counts as broken.
    await using client = await connect(server.url, { transport: { sseIdleTimeoutMs: 1_000 } })
    server.override = ({ body }) => body?.method === 'tools/call'
    const call = client.session.callTool('echo', {})
    const { result } = await server.called('tools/call')
    const get = await server.asked('GET', 4)
    expect(get.headers['mcp-session-id']).toBe('session-1')
    server.push('custom/after')
    await client.notifications.count(1)
    result({ content: [] })
    expect(await call).toEqual({ content: [] })
    expect(server.calls('initialize')).toHaveLength(1)
    expect(client.stale.items).toHaveLength(1)
    expect(client.errors).toEqual([])
    expect(client.statuses.items.filter(({ report }) => report.pushStream === 'connecting')).toHaveLength(1)
  })

  it('lives as long as comments come', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url, { transport: { sseIdleTimeoutMs: 600 } })
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    let beats = 0
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        for (const stream of server.streams) stream.write(':\n')
        if (++beats < 15) return
        clearInterval(timer)
        resolve()
      }, 60)
    })
    expect(server.http.all('GET')).toHaveLength(1)
  })

  it('resumes after a break where it was, also over streams without events, and has the tools listed anew', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    server.push('custom/one', 'id-\u00fc-1')
    await client.notifications.count(1)
    for (const nth of [2, 3]) {
      for (const stream of server.streams) stream.destroy()
      const get = await server.asked('GET', nth)
      expect(Buffer.from(String(get.headers['last-event-id']), 'latin1').toString('utf8')).toBe('id-\u00fc-1')
      expect(get.headers['mcp-session-id']).toBe('session-1')
      await client.stale.count(nth)
    }
    server.push('custom/two', 'id-2')
    await client.notifications.count(2)
    expect(client.notifications.items.map(({ method }) => method)).toEqual(['custom/one', 'custom/two'])
    expect(server.calls('initialize')).toHaveLength(1)
  })

  it('that the server ends is resumed after the pause it asked for; with an id nothing was missed', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    server.push('custom/one', 'id-1')
    await client.notifications.count(1)
    for (const stream of server.streams) stream.end('retry: 1200\n\n')
    const ended = Date.now()
    await server.asked('GET', 2)
    expect(Date.now() - ended).toBeGreaterThan(1_150)
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    server.push('custom/two', 'id-2')
    await client.notifications.count(2)
    expect(client.stale.items).toHaveLength(1)
  })

  it('that the server ends without an id may have missed something', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    for (const stream of server.streams) stream.end()
    await client.stale.count(2)
    expect(server.calls('initialize')).toHaveLength(1)
  })

  it('outlives an outage longer than the SDK has patience', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url, { reconnect: { maxMs: 300 } })
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    const transport = client.transports[0]!
    let failures = 0
    const eighth = new Promise<void>((resolve) => {
      const { onerror } = transport
      transport.onerror = (error) => {
        onerror?.(error)
        if (++failures === 8) resolve()
      }
    })
    await server.http.down()
    await eighth
    expect(client.session.status).toMatchObject({ state: 'connected', report: { pushStream: 'connecting' } })
    await server.http.up()
    await client.stale.count(2)
    server.push('custom/after')
    await client.notifications.count(1)
    expect(server.calls('initialize')).toHaveLength(1)
    expect(client.errors).toEqual([])
  })

  it('goes on behind an event that is too large', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url, { transport: { bodyCapBytes: 4_096 } })
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    const large = event(
      { jsonrpc: '2.0', method: 'custom/large', params: { text: 'x'.repeat(5_000) } },
      'id-2',
    )
    for (const stream of server.streams)
      stream.write(event({ jsonrpc: '2.0', method: 'custom/small' }, 'id-1') + large)
    const get = await server.asked('GET', 2)
    expect(get.headers['last-event-id']).toBe('id-2')
    await client.stale.count(2)
    server.push('custom/next', 'id-3')
    await client.notifications.count(2)
    expect(client.notifications.items.map(({ method }) => method)).toEqual(['custom/small', 'custom/next'])
  })

  it('reads batches, CRLF, CR and a byte order mark, in any pieces', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url)
    await server.asked('GET')
    await client.statuses.find(({ report }) => report.pushStream === 'open')
    const batch = JSON.stringify([
      { jsonrpc: '2.0', method: 'custom/one' },
      { jsonrpc: '2.0', method: 'custom/two' },
    ])
    const text = `\uFEFFdata: ${batch}\r\rdata: {"jsonrpc":"2.0",\r\ndata: "method":"custom/three"}\r\n\r\n`
    for (const stream of server.streams) for (const byte of Buffer.from(text)) stream.write(Buffer.of(byte))
    await client.notifications.count(3)
    expect(client.notifications.items.map(({ method }) => method)).toEqual([
      'custom/one',
      'custom/two',
      'custom/three',
    ])
  })
})
