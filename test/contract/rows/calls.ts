import type { Sdk } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { bench } from '../bench.ts'
import { type Script, type ScriptedServer, text } from '../scripted-server.ts'

const SILENT: Script = { 'tools/call': () => undefined }

/** What happens to single requests. */
export function callRows(load: () => Promise<Sdk>): void {
  describe('a call', () => {
    it('is answered with what the server sent', async () => {
      const odd = {
        content: [{ type: 'hologram', rays: 7 }],
        structuredContent: { n: 1 },
        isError: true,
        _meta: { 'x/y': 1 },
        extra: 'kept',
      }
      const { session } = bench(await load(), {
        scripts: [{ 'tools/call': (server, request) => server.answer(request, odd) }],
      })
      expect(await session.callTool('any', { a: 1 })).toMatchObject(odd)
    })

    it('carries its arguments', async () => {
      const made = bench(await load(), {})
      await made.session.callTool('echo', { text: 'grüße 🐎', deep: { list: [1, null] } })
      const { params } = (await made.server()).requests('tools/call')[0]!
      expect(params).toMatchObject({
        name: 'echo',
        arguments: { text: 'grüße 🐎', deep: { list: [1, null] } },
      })
    })

    it('has content even where the server sent none', async () => {
      const { session } = bench(await load(), {
        scripts: [{ 'tools/call': (server, request) => server.answer(request, { structuredContent: {} }) }],
      })
      expect(await session.callTool('any', {})).toMatchObject({ content: [], structuredContent: {} })
    })

    it('fails where the server sent something else as content', async () => {
      const { session } = bench(await load(), {
        scripts: [{ 'tools/call': (server, request) => server.answer(request, { content: 'words' }) }],
      })
      await expect(session.callTool('any', {})).rejects.toMatchObject({
        code: 'PROTOCOL',
        message: 'The server answered the call of "any" with something that is no result of a tool.',
      })
    })

    it.each([
      ['nothing', { result: null }],
      ['a text', { result: 'words' }],
      ['a list', { result: [] }],
      ['a number', { result: 7 }],
      ['neither a result nor an error', {}],
      ['an error that is a text', { error: 'words' }],
      ['an error without a code', { error: { message: 'words' } }],
      ['both', { result: {}, error: { code: 1, message: 'words' } }],
    ])('fails at once where the server answers with %s', async (_what, odd) => {
      const { session } = bench(await load(), {
        scripts: [{ 'tools/call': (server, request) => server.answerOddly(request, odd) }],
      })
      await expect(session.callTool('any', {})).rejects.toMatchObject({
        code: 'PROTOCOL',
        message: 'The server answered with something that is neither a result nor an error.',
      })
    })

    it('is answered where what comes beside the answer is odd', async () => {
      const odd = { result: { ...text('here'), _meta: 'words' }, error: null, more: 1 }
      const { session } = bench(await load(), {
        scripts: [{ 'tools/call': (server, request) => server.answerOddly(request, odd) }],
      })
      expect(await session.callTool('any', {})).toMatchObject(text('here'))
    })

    it('is one of many at the same time', async () => {
      const held: (() => void)[] = []
      const { session } = bench(await load(), {
        scripts: [
          {
            'tools/call': (server, request) => {
              held.push(() =>
                server.answer(request, text(`answer ${(request.params as { readonly name: string }).name}`)),
              )
              // The last question is answered first.
              if (held.length === 20) for (const answer of held.reverse()) answer()
            },
          },
        ],
      })
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => session.callTool(`tool ${n}`, {})),
      )
      expect(answers.map(({ content }) => content)).toEqual(
        Array.from({ length: 20 }, (_, n) => text(`answer tool ${n}`).content),
      )
    })

    it('fails alone when the server answers with an error', async () => {
      const { session } = bench(await load())
      const [good, bad, also] = await Promise.allSettled([
        session.callTool('echo', { text: 'one' }),
        session.callTool('bad', {}),
        session.callTool('echo', { text: 'two' }),
      ])
      expect(good).toMatchObject({ status: 'fulfilled', value: text('one') })
      expect(also).toMatchObject({ status: 'fulfilled', value: text('two') })
      expect(bad).toMatchObject({
        reason: {
          code: 'PROTOCOL',
          message: 'The server answered with error -32602: These arguments never please.',
          data: { code: -32602 },
        },
      })
      expect(session.status.state).toBe('connected')
    })

    it('may be any request', async () => {
      const made = bench(await load(), {
        scripts: [
          {
            'resources/read': (server, request) =>
              server.answer(request, { contents: [{ uri: request.params?.uri, odd: true }] }),
          },
        ],
      })
      expect(await made.session.request('resources/read', { uri: 'a:b', _meta: { mine: 1 } })).toMatchObject({
        contents: [{ uri: 'a:b', odd: true }],
      })
      const { params } = (await made.server()).requests('resources/read')[0]!
      expect(params).toMatchObject({ uri: 'a:b', _meta: { mine: 1 } })
      await expect(made.session.request('x/unknown')).rejects.toMatchObject({
        code: 'PROTOCOL',
        data: { code: -32601 },
      })
    })
  })

  describe('the tool list', () => {
    it('is handed on page by page', async () => {
      const [first, second] = [
        { tools: [{ name: 'a' }], nextCursor: 'two' },
        { tools: [{ name: 'b', extra: 1 }] },
      ]
      const made = bench(await load(), {
        scripts: [
          {
            'tools/list': (server, request) =>
              server.answer(request, request.params?.cursor === 'two' ? second : first),
          },
        ],
      })
      expect(await made.session.listTools()).toMatchObject({ tools: [{ name: 'a' }], nextCursor: 'two' })
      const last = await made.session.listTools('two')
      expect(last).toMatchObject({ tools: [{ name: 'b', extra: 1 }] })
      expect(last.nextCursor).toBeUndefined()
      expect((await made.server()).requests('tools/list').map(({ params }) => params?.cursor)).toEqual([
        undefined,
        'two',
      ])
    })

    it('is empty, and not asked for, where the server has no tools', async () => {
      const made = bench(await load(), {
        scripts: [
          {
            initialize: (server, request) =>
              server.answer(request, {
                protocolVersion: '2025-06-18',
                capabilities: {},
                serverInfo: { name: 'x', version: '0' },
              }),
          },
        ],
      })
      expect(await made.session.listTools()).toEqual({ tools: [] })
      expect((await made.server()).methods).not.toContain('tools/list')
    })

    it('cannot be had where the server answers something else, which is said', async () => {
      const { session } = bench(await load(), {
        scripts: [{ 'tools/list': (server, request) => server.answer(request, { tools: 'none' }) }],
      })
      await expect(session.listTools()).rejects.toMatchObject({
        code: 'PROTOCOL',
        message: 'The server answered tools/list with something that holds no tools.',
      })
    })
  })

  describe('cancelling', () => {
    const call = (server: ScriptedServer) => server.requests('tools/call')
    const cancellations = (server: ScriptedServer) =>
      server.requests('notifications/cancelled').map(({ params }) => params?.requestId)

    it('tells the server which call, and that one alone ends', async () => {
      const made = bench(await load(), { scripts: [SILENT] })
      const { session } = made
      const [stop, other] = [new AbortController(), new AbortController()]
      const kept = session.callTool('kept', {}, { signal: other.signal })
      kept.catch(() => undefined)
      const ended = session.callTool('ended', {}, { signal: stop.signal })
      const server = await made.server()
      await server.gotRequest('tools/call', 2)
      stop.abort()
      await expect(ended).rejects.toMatchObject({ code: 'CANCELLED' })
      await server.gotRequest('notifications/cancelled')
      expect(cancellations(server)).toEqual([call(server)[1]?.id])
      server.answer(call(server)[0]!, text('kept'))
      expect(await kept).toMatchObject(text('kept'))
      other.abort()
      await session.callTool('x', {}, { signal: AbortSignal.abort() }).catch(() => undefined)
      await session.request('ping')
      expect(cancellations(server)).toHaveLength(1)
      expect(call(server)).toHaveLength(2)
    })

    it('of a call that is never sent sends nothing', async () => {
      const made = bench(await load())
      await made.session.ready()
      await expect(made.session.callTool('echo', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'CANCELLED',
      })
      expect((await made.server()).methods).not.toContain('tools/call')
    })

    it('is done for a call that takes too long', async () => {
      const made = bench(await load(), { scripts: [SILENT] })
      const call = made.session.callTool('slow', {}, { timeoutMs: 20 })
      await expect(call).rejects.toMatchObject({
        code: 'REQUEST_TIMEOUT',
        message: 'The call of "slow" on server "builds" was not answered within 0.02 s.',
      })
      const server = await made.server()
      await server.gotRequest('notifications/cancelled')
      expect(cancellations(server)).toEqual([server.requests('tools/call')[0]?.id])
      expect(made.session.status.state).toBe('connected')
    })
  })
}
