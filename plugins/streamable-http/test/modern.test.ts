import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { describe, expect, it, vi } from 'vitest'
import { connect } from './client.ts'

const tools = [{ name: 'add', inputSchema: { type: 'object' as const } }]

/** A server of revision 2026-07-28 on the official SDK, and what it was sent. */
async function startModern() {
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: 'modern', version: '1.0.0' },
        { capabilities: { tools: { listChanged: true } } },
      )
      server.setRequestHandler('tools/list', () => ({ tools }))
      server.setRequestHandler('tools/call', ({ params }) => {
        const { a, b } = params.arguments as { a: number; b: number }
        return { content: [{ type: 'text', text: String(a + b) }] }
      })
      return server
    },
    { legacy: 'reject' },
  )
  const serve = toNodeHandler(handler)
  const methods: string[] = []
  /** Refuses every request of these methods. */
  const refused = new Set<string>()
  const http = createServer((request, response) => {
    const method = String(request.headers['mcp-method'])
    methods.push(`${request.method} ${method}`)
    if (refused.has(method)) return void response.writeHead(401).end()
    // The adapter's types do not know exactOptionalPropertyTypes.
    void serve(request as never, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    methods,
    refused,
    notify: handler.notify,
    drop: () => http.closeAllConnections(),
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections()
      await new Promise<void>((resolve) => http.close(() => resolve()))
    },
  }
}

describe.concurrent('a server of the modern era', () => {
  it('is recognised, listed, called and listened to, without a session or a GET', async () => {
    await using server = await startModern()
    await using client = await connect(server.url)
    expect(client.session.status).toMatchObject({
      state: 'connected',
      era: 'modern',
      protocolVersion: '2026-07-28',
      report: {},
    })
    expect(await client.session.listTools()).toMatchObject({ tools: [{ name: 'add' }] })
    const call = await client.session.callTool('add', { a: 1, b: 2 }, { tool: tools[0]! })
    expect(call).toMatchObject({ content: [{ text: '3' }] })
    await client.notifications.find(({ method }) => method === 'notifications/subscriptions/acknowledged')
    server.notify.toolsChanged()
    await client.notifications.find(({ method }) => method === 'notifications/tools/list_changed')
    expect(server.methods).toEqual([
      'POST server/discover',
      'POST subscriptions/listen',
      'POST tools/list',
      'POST tools/call',
    ])
  })

  it('is listened to again after a break, and the tools are listed anew', async () => {
    await using server = await startModern()
    await using client = await connect(server.url)
    const isOpen = ({ method }: { method?: string }): boolean =>
      method === 'notifications/subscriptions/acknowledged'
    await client.notifications.find(isOpen)
    server.drop()
    await client.notifications.find(isOpen, 2)
    await client.stale.count(2)
    server.notify.toolsChanged()
    await client.notifications.find(({ method }) => method === 'notifications/tools/list_changed')
    expect(client.session.status.state).toBe('connected')
  })

  it('that refuses to be listened to is asked with fresh credentials, then it is said once', async () => {
    await using server = await startModern()
    await using client = await connect(server.url)
    const isOpen = ({ method }: { method?: string }): boolean =>
      method === 'notifications/subscriptions/acknowledged'
    await client.notifications.find(isOpen)
    server.refused.add('subscriptions/listen')
    server.drop()
    const { state, reason } = await client.statuses.find(({ attention }) => attention !== undefined)
    expect({ state, reason }).toEqual({
      state: 'connected',
      reason: 'its pushes do not arrive: The server refused the credentials (HTTP 401).',
    })
    expect(client.requests).toHaveLength(2)
    const asked = server.methods.filter((method) => method === 'POST subscriptions/listen').length
    await vi.waitUntil(
      () => server.methods.filter((method) => method === 'POST subscriptions/listen').length > asked + 1,
      { timeout: 10_000 },
    )
    expect(client.errors).toEqual([expect.objectContaining({ code: 'PUSHES_REFUSED' })])
    server.refused.clear()
    await client.notifications.find(isOpen, 2)
    await vi.waitUntil(() => client.session.status.attention === undefined)
    expect(client.requests).toHaveLength(2)
  })

  it('answers its own errors by JSON-RPC, whatever their HTTP status', async () => {
    await using server = await startModern()
    await using client = await connect(server.url)
    await expect(client.session.request('custom/unknown')).rejects.toMatchObject({
      code: 'PROTOCOL',
      data: { code: -32601 },
    })
  })
})
