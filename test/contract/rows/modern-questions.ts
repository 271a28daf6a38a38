import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Elicit, ElicitationQuestion, Frame, Sdk, Transport } from '@tapline/core'
import type { MemoryTransport } from '@tapline/core/testing'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { bench } from '../bench.ts'

type ServerPipe = NonNullable<NonNullable<Parameters<typeof serveStdio>[1]>['transport']>

/** A modern server that wants these in turn before it answers with what it was told. */
function demanding(frames: Frame[], ...rounds: readonly object[]): (pipe: MemoryTransport) => void {
  return (pipe) => {
    const heard: Transport = {
      start: () => pipe.start(),
      send: (frame) => pipe.send(frame),
      close: () => pipe.close(),
    }
    pipe.onmessage = (frame) => {
      frames.push(frame)
      heard.onmessage?.(frame)
    }
    pipe.onclose = () => heard.onclose?.()
    const waiting = [...rounds]
    const create = (): Server => {
      const server = new Server({ name: 'modern', version: '2.0.0' }, { capabilities: { tools: {} } })
      server.setRequestHandler('tools/list', () => ({
        tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
      }))
      server.setRequestHandler('tools/call', (_request, { mcpReq }) => {
        const next = waiting.shift()
        if (next) return { resultType: 'input_required', ...next }
        return { content: [{ type: 'text', text: JSON.stringify(mcpReq.inputResponses ?? null) }] }
      })
      return server
    }
    serveStdio(create, { legacy: 'reject', transport: heard as unknown as ServerPipe })
  }
}

const name = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Who?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
}
const page = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Sign in', url: 'https://example.com/' },
}
const answered = { action: 'accept', content: { name: 'Ada' } } as const

/** What a server of revision 2026-07-28 wants to know before it answers (basic/patterns/mrtr). */
export function modernQuestionRows(load: () => Promise<Sdk>): void {
  describe('a modern server that needs input', () => {
    const calls = (frames: readonly Frame[]) => frames.filter(({ method }) => method === 'tools/call')

    it('is given it, with its state as it was, in a call of its own', async () => {
      const frames: Frame[] = []
      const asked: ElicitationQuestion[] = []
      const elicit: Elicit = async (question) => {
        asked.push(question)
        return question.mode === 'form' ? answered : { action: 'decline' }
      }
      const state = ' "bytes"\\u0000 é'
      const serve = demanding(
        frames,
        { inputRequests: { who: name, page }, requestState: state },
        { requestState: 'later' },
      )
      const { session } = bench(await load(), { elicit, serve })
      const { content } = await session.callTool('ask', { a: 1 })
      // What the last round did not ask for, it is not told again.
      expect(content).toEqual([{ type: 'text', text: 'null' }])
      const [first, second, third] = calls(frames)
      expect(second?.params).toMatchObject({
        name: 'ask',
        arguments: { a: 1 },
        requestState: state,
        inputResponses: { who: answered, page: { action: 'decline' } },
      })
      expect(third?.params).toMatchObject({ arguments: { a: 1 }, requestState: 'later' })
      expect(third?.params).not.toHaveProperty('inputResponses')
      expect(new Set([first, second, third].map((frame) => frame?.id)).size).toBe(3)
      expect(asked.map(({ mode }) => mode).toSorted()).toEqual(['form', 'url'])
      expect(asked.find(({ mode }) => mode === 'url')).toMatchObject({ waits: true, host: 'example.com' })
      const meta = first?.params?.['_meta'] as Record<string, unknown>
      expect(meta['io.modelcontextprotocol/clientCapabilities']).toEqual({
        roots: {},
        elicitation: { form: {}, url: {} },
      })
    })

    it('is taken at its word where it says that it needs none, and where it says nothing', async () => {
      const frames: Frame[] = []
      const serve = demanding(frames)
      const unsaid = (pipe: MemoryTransport): void => {
        const { send } = pipe
        pipe.send = (frame) => {
          const { resultType, ...result } = (frame.result ?? {}) as { resultType?: string; content?: unknown }
          return send.call(pipe, resultType && result.content ? { ...frame, result } : frame)
        }
        serve(pipe)
      }
      const { session } = bench(await load(), { serve: unsaid })
      expect((await session.callTool('ask', {})).content).toEqual([{ type: 'text', text: 'null' }])
      expect(calls(frames)).toHaveLength(1)
    })

    it('is told the roots, whoever is there', async () => {
      const serve = demanding([], { inputRequests: { where: { method: 'roots/list' } } })
      const { session } = bench(await load(), { serve })
      const { content } = await session.callTool('ask', {})
      const where = { roots: [{ uri: 'file:///nowhere', name: 'nowhere' }] }
      expect(content).toEqual([{ type: 'text', text: JSON.stringify({ where }) }])
    })

    it.each([
      [
        'the model is not asked',
        { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      ],
      ['nobody is asked', name],
    ])('fails its call where %s', async (_what, request) => {
      const frames: Frame[] = []
      const serve = demanding(frames, { inputRequests: { it: request } })
      const { session } = bench(await load(), { serve })
      await expect(session.callTool('ask', {})).rejects.toMatchObject({ code: 'PROTOCOL' })
      expect(calls(frames)).toHaveLength(1)
    })

    it.each<[string, object, RegExp]>([
      [
        'an address that is none',
        { ...page.params, url: 'file:///etc' },
        /its address does not begin with https/,
      ],
      [
        'a form that is none',
        { ...name.params, requestedSchema: { type: 'object', properties: { a: {} } } },
        /in a way that the protocol does not have/,
      ],
    ])('fails its call in words where it asks with %s', async (_what, params, words) => {
      const serve = demanding([], { inputRequests: { it: { method: 'elicitation/create', params } } })
      const { session } = bench(await load(), { serve, elicit: async () => ({ action: 'cancel' }) })
      await expect(session.callTool('ask', {})).rejects.toMatchObject({
        code: 'PROTOCOL',
        message: expect.stringMatching(words) as string,
      })
    })

    it('is not asked without end', async () => {
      const frames: Frame[] = []
      const rounds = Array.from({ length: 20 }, () => ({ inputRequests: { who: name } }))
      const { session } = bench(await load(), {
        serve: demanding(frames, ...rounds),
        elicit: async () => answered,
      })
      await expect(session.callTool('ask', {})).rejects.toMatchObject({
        code: 'PROTOCOL',
        message: 'The server asks something back again and again, and does not answer.',
      })
      expect(calls(frames)).toHaveLength(11)
    })

    it('is not answered for a call that has ended, while others go on', async () => {
      const asked: { readonly mode: string; readonly signal: AbortSignal }[] = []
      const elicit: Elicit = ({ mode }, signal) => {
        asked.push({ mode, signal })
        return new Promise(() => undefined)
      }
      const script = { method: 'elicitation/create', params: { ...page.params, url: 'javascript:alert(1)' } }
      const serve = demanding(
        [],
        { inputRequests: { who: name } },
        { inputRequests: { page } },
        { inputRequests: { who: name, script } },
      )
      const made = bench(await load(), { elicit, serve })
      const stop = new AbortController()
      const first = made.session.callTool('ask', {}, { signal: stop.signal })
      await made.until(() => asked.length === 1)
      const second = made.session.callTool('ask', {})
      second.catch(() => undefined)
      await made.until(() => asked.length === 2)
      stop.abort()
      await expect(first).rejects.toMatchObject({ code: 'CANCELLED' })
      expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false])
      // One of two that cannot be asked ends the other.
      await expect(made.session.callTool('ask', {})).rejects.toMatchObject({ code: 'PROTOCOL' })
      expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false, ...(asked[2] ? [true] : [])])
    })

    it('cannot ask on its own account: the revision has no requests of servers', async () => {
      const frames: Frame[] = []
      const asked: ElicitationQuestion[] = []
      let server: MemoryTransport | undefined
      const serve = (pipe: MemoryTransport): void => {
        server = pipe
        demanding(frames)(pipe)
      }
      const elicit: Elicit = async (question) => (asked.push(question), answered)
      const made = bench(await load(), { elicit, serve })
      await made.session.ready()
      await server?.send({ jsonrpc: '2.0', id: 'q-1', ...name })
      expect((await made.session.callTool('ask', {})).content).toEqual([{ type: 'text', text: 'null' }])
      expect(made.entered).toContainEqual(expect.objectContaining({ id: 'q-1' }))
      expect(asked).toEqual([])
      expect(frames.find(({ id }) => id === 'q-1')).toBeUndefined()
    })

    it('waits for a person as long as it takes, unless the call is ended', async () => {
      const frames: Frame[] = []
      let gone: AbortSignal | undefined
      let answer = (): void => undefined
      const elicit: Elicit = (_question, signal) => {
        gone = signal
        return new Promise((resolve) => (answer = () => resolve(answered)))
      }
      const round = { inputRequests: { who: name } }
      const made = bench(await load(), { elicit, serve: demanding(frames, round, round) })
      await made.session.ready()
      const call = made.session.callTool('ask', {}, { timeoutMs: 100 })
      await made.until(() => gone !== undefined)
      await sleep(250)
      gone = undefined
      const stop = new AbortController()
      answer()
      await made.until(() => gone !== undefined)
      answer()
      expect((await call).content).toEqual([{ type: 'text', text: JSON.stringify({ who: answered }) }])

      gone = undefined
      const again = bench(await load(), { elicit, serve: demanding([], round) })
      const ended = again.session.callTool('ask', {}, { signal: stop.signal })
      ended.catch(() => undefined)
      await again.until(() => gone !== undefined)
      stop.abort()
      await expect(ended).rejects.toMatchObject({ code: 'CANCELLED' })
      expect((gone as unknown as AbortSignal).aborted).toBe(true)
    })
  })
}
