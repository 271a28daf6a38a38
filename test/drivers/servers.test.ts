import { readFileSync } from 'node:fs'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { servers, startHttpFixture } from './fixtures.ts'
import { startPipe } from './pipe.ts'
import { descendants, groupAlive, killQuietly, processAlive, processTable, waitUntil } from './processes.ts'
import { createScratch } from './scratch.ts'

describe('the misbehaving stdio server', () => {
  it('answers through noise, split characters and CRLF', async () => {
    await using pipe = startPipe(servers.misbehaving, ['--noise', '--split', '--crlf'])
    expect((await pipe.initialize()).result.serverInfo.title).toBe('Ungezügelt 🐎')
    const call = await pipe.request('tools/call', { name: 'echo', arguments: { text: 'ü🐎' } })
    expect(call.result.content[0].text).toBe('ü🐎')
    expect(pipe.stdout).toMatch(/warming up[^]*\r\n/)
  })

  it('has its tools fail, push, page and be cancelled', async () => {
    await using scratch = createScratch()
    const file = `${scratch.root}/log.jsonl`
    await using pipe = startPipe(servers.misbehaving, ['--paging', '2', '--bad-schema', '--log', file])
    await pipe.initialize()
    const call = (name: string, args: object = {}, more: object = {}) =>
      pipe.request('tools/call', { name, arguments: args, ...more })

    expect((await pipe.request('tools/list')).result).toMatchObject({ nextCursor: '2' })
    expect((await call('fail')).result.isError).toBe(true)
    expect((await call('bad')).error.code).toBe(-32602)
    expect((await call('structured', { value: 7 })).result.structuredContent).toEqual({ value: 7 })
    expect((await call('media')).result.content).toHaveLength(6)
    expect((await call('big', { bytes: 9000 })).result.content[0].text).toHaveLength(9000)
    await call('burst', { method: 'notifications/x', count: 3, meta: { pi_dedup_key: 'k{n}' } })
    const keys = pipe.frames.flatMap(({ method, params }) => (method === 'notifications/x' ? params : []))
    expect(keys.map(({ _meta }) => _meta.pi_dedup_key)).toEqual(['k1', 'k2', 'k3'])
    await call('slow', { ms: 40, progressEveryMs: 20 }, { _meta: { progressToken: 't' } })
    expect(pipe.frames.filter(({ method }) => method === 'notifications/progress').length).toBeGreaterThan(1)

    pipe.send({ id: 'long', method: 'tools/call', params: { name: 'slow', arguments: { ms: 60_000 } } })
    pipe.send({ method: 'notifications/cancelled', params: { requestId: 'long' } })
    await waitUntil(() => readFileSync(file, 'utf8').includes('"event":"cancelled","id":"long"'))
    pipe.send({ id: 'crash', method: 'tools/call', params: { name: 'crash' } })
    expect(await pipe.exited).toMatchObject({ code: 1 })
  })

  it('is as stubborn as told', async () => {
    await using old = startPipe(servers.misbehaving, ['--die-on-unknown'])
    await expect(old.request('server/discover')).rejects.toThrow('ended with 1')
    await using brief = startPipe(servers.misbehaving, ['--exit-after-init'])
    await brief.initialize()
    expect(await brief.exited).toMatchObject({ code: 3 })

    await using scratch = createScratch()
    const file = `${scratch.root}/log.jsonl`
    await using stubborn = startPipe(servers.misbehaving, ['--ignore-term', '--grandchild', '--log', file])
    await stubborn.initialize()
    const grandchild = Number(await waitUntil(() => /grandchild (\d+)/.exec(stubborn.stderr)?.[1]))
    onTestFinished(() => killQuietly(grandchild))
    expect(descendants(stubborn.pid).map(({ pid }) => pid)).toEqual([grandchild])
    stubborn.end()
    killQuietly(stubborn.pid, 'SIGTERM')
    await waitUntil(() =>
      ['SIGTERM', 'end of stdin'].every((event) => readFileSync(file, 'utf8').includes(event)),
    )
    expect(processAlive(stubborn.pid)).toBe(true)
    await stubborn.close()
    expect(processAlive(stubborn.pid)).toBe(false)
    expect(groupAlive(processTable().find(({ pid }) => pid === grandchild)!.pgid)).toBe(true)
  })
})

describe('the misbehaving HTTP server', () => {
  const post = async (
    url: string,
    method: string,
    params: object = {},
    headers: Record<string, string> = {},
  ) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer secret-1', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
  const open = async (url: string) => {
    const session = (await post(url, 'initialize')).headers.get('mcp-session-id') ?? ''
    return { 'mcp-session-id': session }
  }
  /** Reads an event stream until it holds the text. */
  const read = async (response: Response, text: string) => {
    let seen = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      seen += chunk
      if (seen.includes(text)) break
    }
    return seen
  }

  it('pushes, resumes, forgets and goes away', async () => {
    await using server = await startHttpFixture(servers.httpMisbehaving, ['--ids', '--crlf', '--chunk', '7'])
    const headers = await open(server.url)
    const listening = fetch(server.url, { headers })
    await waitUntil(async () => (await server.control({ do: 'status' })).streams === 1)
    await server.control({ do: 'comment' })
    await server.control({ do: 'push', message: { method: 'notifications/one' } })
    expect(await read(await listening, 'notifications/one')).toContain(': keep-alive\r\n\r\nid: 1\r\n')

    await waitUntil(async () => (await server.control({ do: 'status' })).streams === 0)
    await server.control({ do: 'push', message: { method: 'notifications/two' } })
    const resumed = await fetch(server.url, { headers: { ...headers, 'last-event-id': '1' } })
    expect(await read(resumed, 'notifications/two')).not.toContain('notifications/one')
    await server.waitForLog((request) => request.headers['last-event-id'] === '1')

    await server.control({ do: 'forget' })
    expect((await post(server.url, 'ping', {}, headers)).status).toBe(404)
    await server.control({ do: 'get', mode: 405 })
    expect((await fetch(server.url, { headers: await open(server.url) })).status).toBe(405)

    const back = server.listened(2)
    await server.control({ do: 'outage', ms: 100 })
    await expect(post(server.url, 'ping')).rejects.toThrow('fetch failed')
    await back
    expect((await post(server.url, 'initialize')).status).toBe(200)
  })

  it('leaks, redirects, overflows and falls silent', async () => {
    await using server = await startHttpFixture(servers.httpMisbehaving, ['--token', 'secret-1'])
    expect((await post(server.url, 'initialize', {}, { authorization: 'Bearer none' })).status).toBe(401)
    const headers = await open(server.url)
    const call = async (name: string, args: object = {}) =>
      post(server.url, 'tools/call', { name, arguments: args, _meta: { progressToken: 1 } }, headers)

    const slow = await call('slow', { ms: 20, progressEveryMs: 10 })
    expect(slow.headers.get('content-type')).toBe('text/event-stream')
    expect(await slow.text()).toContain('notifications/progress')
    await server.control({ do: 'error' })
    expect(await (await call('echo')).text()).toContain('secret-1')
    await server.control({ do: 'redirect' })
    expect((await call('echo')).redirected).toBe(true)
    await server.control({ do: 'oversized', bytes: 3_000_000, where: 'sse' })
    expect((await (await call('echo')).text()).length).toBeGreaterThan(3_000_000)
    await server.control({ do: 'silent' })
    const silence = call('echo').catch((error: unknown) => String(error))
    await server.waitForLog((request, index) => index > 4 && request.body?.params?.name === 'echo')
    await waitUntil(async () => (await server.control({ do: 'drop' })).dropped === 1)
    expect(await silence).toContain('fetch failed')
    await expect(server.control({ do: 'nonsense' })).rejects.toThrow('Unknown order')
  })
})

describe('the servers on the SDKs', () => {
  const stdio = (script: string) => new StdioClientTransport({ command: process.execPath, args: [script] })

  /** Connects the current client, calls `add` and `change`, and counts what is announced of it. */
  async function visit(transport: Transport) {
    const client = new Client({ name: 'visitor', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(transport)
    const { resolve, promise: changed } = Promise.withResolvers<void>()
    client.setNotificationHandler('notifications/tools/list_changed', () => resolve())
    const { resolve: update, promise: updated } = Promise.withResolvers<string>()
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => update(params.uri))
    const era = client.getProtocolEra()
    if (era === 'modern')
      await client.listen({ toolsListChanged: true, resourceSubscriptions: ['fixture://one'] })
    else await client.subscribeResource({ uri: 'fixture://one' })
    expect(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({
      content: [{ text: '3' }],
    })
    let steps = 0
    // This SDK loses progress that arrives together with the answer, as on a busy machine it may: some comes long before.
    await client.callTool({ name: 'slow', arguments: { ms: 300, steps: 6 } }, { onprogress: () => steps++ })
    expect(steps).toBeGreaterThan(0)
    await client.callTool({ name: 'change' })
    await changed
    await client.callTool({ name: 'touch' })
    expect(await updated).toBe('fixture://one')
    return { era, version: client.getNegotiatedProtocolVersion() }
  }

  it('modern is modern, over stdio and HTTP', async () => {
    const modern = { era: 'modern', version: '2026-07-28' }
    expect(await visit(stdio(servers.modern))).toEqual(modern)
    await using server = await startHttpFixture(servers.modern, ['--http'])
    expect(await visit(new StreamableHTTPClientTransport(new URL(server.url)))).toEqual(modern)
  })

  it('v1 is legacy, over stdio and HTTP', async () => {
    const legacy = { era: 'legacy', version: '2025-11-25' }
    expect(await visit(stdio(servers.v1))).toEqual(legacy)
    await using server = await startHttpFixture(servers.v1, ['--http'])
    expect(await visit(new StreamableHTTPClientTransport(new URL(server.url)))).toEqual(legacy)
  })

  it('the servers from npm answer', async () => {
    await using scratch = createScratch()
    for (const [script, args] of [
      [servers.everything, []],
      [servers.filesystem, [scratch.root]],
      [servers.memory, []],
    ] as const) {
      await using pipe = startPipe(script, args)
      await pipe.initialize()
      expect((await pipe.request('tools/list')).result.tools.length).toBeGreaterThan(5)
    }
  })
})

describe('the example push server', () => {
  it('beats as often as told, with every kind, and ends with its input', async () => {
    const kinds = 'heartbeat,tools,resources,prompts,updated,message,progress,keyless,duplicate'
    await using pipe = startPipe(servers.notify, ['--every', '10', '--count', '2', '--kinds', kinds])
    expect((await pipe.request('server/discover')).error.code).toBe(-32601)
    expect((await pipe.initialize('2024-11-05')).result.protocolVersion).toBe('2024-11-05')
    await pipe.waitForFrame((frame) => frame.params?.beat === 2 && frame.method.endsWith('twice'))
    expect((await pipe.request('tools/call', { name: 'demo_status' })).result.content[0].text).toBe(
      '2 beats sent',
    )
    expect(pipe.frames.filter(({ id }) => id === undefined)).toHaveLength(20)
    expect(new Set(pipe.frames.map(({ params }) => params?._meta?.pi_dedup_key)).size).toBe(5)
    pipe.end()
    expect(await pipe.exited).toEqual({ code: 0, signal: null })
  })
})
