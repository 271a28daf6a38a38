import { describe, expect, it } from 'vitest'
import { connect, failureOf, rejectionOf, shownOf } from './client.ts'
import { type Answer, answeringCalls, event, LegacyServer, textResult } from './legacy-server.ts'

const SECRET = 'secret-of-the-body'

describe.concurrent('a call', () => {
  it.for([401, 403])('that gets HTTP %i fails as a matter of credentials', async (status) => {
    await using server = await answeringCalls((incoming) => incoming.status(status, SECRET))
    await using client = await connect(server.url)
    const error = await failureOf(client)
    expect(error).toMatchObject({ code: 'AUTH_FAILED', data: { status } })
    expect(shownOf(error)).not.toContain(SECRET)
  })

  it.for([400, 404, 409, 422, 429, 500, 503])(
    'that gets HTTP %i shows the number and not the body',
    async (status) => {
      await using server = await answeringCalls((incoming) => {
        // 404 means a lost session, except for an unknown method.
        if (status === 404)
          incoming.json({ jsonrpc: '2.0', id: null, error: { code: -32601, message: 'no' } }, 404)
        else incoming.status(status, SECRET)
      })
      await using client = await connect(server.url)
      const error = await failureOf(client)
      expect(error).toMatchObject({
        code: 'CONNECT_FAILED',
        data: { status },
        message: expect.stringContaining(`HTTP ${status}`),
      })
      expect(shownOf(error)).not.toContain(SECRET)
      expect(server.calls('initialize')).toHaveLength(1)
    },
  )

  it('that is refused with a JSON-RPC error of its own id gets that error', async () => {
    await using server = await answeringCalls((incoming) =>
      incoming.json(
        { jsonrpc: '2.0', id: incoming.body!.id, error: { code: -32602, message: 'text is missing' } },
        400,
      ),
    )
    await using client = await connect(server.url)
    expect(await failureOf(client)).toMatchObject({
      code: 'PROTOCOL',
      data: { code: -32602 },
      message: expect.stringContaining('text is missing'),
    })
  })

  it.for(['text/html', 'application/json'])('that gets junk as %s shows nothing of it', async (type) => {
    await using server = await answeringCalls((incoming) =>
      incoming.status(200, `<html>${SECRET}`, { 'content-type': type }),
    )
    await using client = await connect(server.url)
    const error = await failureOf(client)
    expect(error).toMatchObject({ code: 'PROTOCOL' })
    expect(error.message).not.toContain('html')
  })

  it('waits for headers no longer than the request timeout', async () => {
    await using server = await answeringCalls(() => undefined)
    await using client = await connect(server.url, { requestTimeoutMs: 300 })
    const transport = client.transports[0]!
    const error = await rejectionOf(
      transport.send({ jsonrpc: '2.0', id: 99, method: 'tools/call', params: {} }),
    )
    expect(error).toMatchObject({ code: 'REQUEST_TIMEOUT' })
    await (
      await server.called('tools/call')
    ).closed
  })

  it('may take longer than the request timeout once its event stream is open and reports progress', async () => {
    await using server = await answeringCalls((incoming) => {
      const stream = incoming.events()
      const { progressToken } = incoming.body!.params!['_meta'] as { progressToken: string }
      let progress = 0
      const timer = setInterval(() => {
        if (++progress < 8) {
          stream.write(
            event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } }),
          )
          return
        }
        clearInterval(timer)
        stream.end(event({ jsonrpc: '2.0', id: incoming.body!.id, result: textResult('late') }))
      }, 400)
    })
    await using client = await connect(server.url, { requestTimeoutMs: 2_000 })
    const seen: number[] = []
    const result = await client.session.callTool(
      'echo',
      {},
      { onProgress: ({ progress }) => seen.push(progress) },
    )
    expect(result).toMatchObject({ content: [{ text: 'late' }] })
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  const breaks: readonly [string, Answer][] = [
    ['before headers', (incoming) => void incoming.response.destroy()],
    [
      'inside a JSON body',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
        response.write('{"jsonrpc":', () => response.destroy())
      },
    ],
    [
      'inside an event stream',
      (incoming) => void incoming.events().write(': hello\n\n', () => incoming.response.destroy()),
    ],
    ['by the end of an event stream without ids', (incoming) => void incoming.events().end()],
  ]
  it.for(breaks)('that breaks off %s fails at once, and is not sent again', async ([, answer]) => {
    await using server = await answeringCalls(answer)
    await using client = await connect(server.url, { requestTimeoutMs: 20_000 })
    const error = await failureOf(client)
    expect(error).toMatchObject({
      code: 'CONNECTION_CLOSED',
      message: expect.stringContaining('unknown'),
      data: { outcome: 'unknown' },
    })
    expect(server.calls('tools/call')).toHaveLength(1)
    expect(client.session.status.state).toBe('connected')
    server.override = () => undefined
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'hello' }] })
  })

  it('says that nothing listens, and works again when something does', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url)
    await server.http.down()
    const error = await failureOf(client)
    expect(error).toMatchObject({
      code: 'CONNECT_FAILED',
      message: `${server.http.origin} cannot be reached: nothing listens there.`,
      data: { unreachable: true },
    })
    await server.http.up()
    expect(await client.session.callTool('echo', {})).toMatchObject({ content: [{ text: 'hello' }] })
  })

  it('that is cancelled tells the server, and its answer is no longer waited for', async () => {
    await using server = await answeringCalls((incoming) => void incoming.events().write(': working\n\n'))
    await using client = await connect(server.url)
    const cancel = new AbortController()
    const call = rejectionOf(client.session.callTool('echo', {}, { signal: cancel.signal }))
    const incoming = await server.called('tools/call')
    cancel.abort()
    expect(await call).toMatchObject({ code: 'CANCELLED' })
    const notice = await server.called('notifications/cancelled')
    expect(notice.body!.params).toMatchObject({ requestId: incoming.body!.id })
    await incoming.closed
  })
})
