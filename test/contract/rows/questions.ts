import { setTimeout as sleep } from 'node:timers/promises'
import type { Elicit, ElicitationAnswer, ElicitationQuestion, Sdk, UrlQuestion } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { serverSpec } from '../../../core/test/specs.ts'
import { bench } from '../bench.ts'
import { type Script, type ScriptedServer, text } from '../scripted-server.ts'

/** A question that somebody has been asked, and who answers it when. */
interface Open {
  readonly question: ElicitationQuestion
  readonly signal: AbortSignal
  answer(answer: ElicitationAnswer): void
}

/** The maintenance line says of what it checks itself that it failed at it. */
const REFUSED = expect.toBeOneOf([-32602, -32603]) as number

/** A person who is asked, and answers when a test says so. */
function person(): { readonly elicit: Elicit; readonly asked: Open[] } {
  const asked: Open[] = []
  const elicit: Elicit = (question, signal) =>
    new Promise((answer) => asked.push({ question, signal, answer }))
  return { elicit, asked }
}

const FORM = {
  message: 'Who\u001B[31m are\n\n  you?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string', title: 'Name' }, age: { type: 'integer', minimum: 0, default: 7 } },
    required: ['name'],
  },
}
const address = (elicitationId: string) => ({
  mode: 'url',
  message: 'Sign in',
  url: 'https://example.com/in?x=1',
  elicitationId,
})

/** A call during which the server asks; it answers with what it was told. */
const asking = (method: string, params: object): Script => ({
  'tools/call': (server, request) => {
    server.ask('q-1', method, { ...params })
    void server
      .got(({ id }) => id === 'q-1')
      .then((told) => server.answer(request, text(JSON.stringify(told.result))))
  },
})
const said = ({ content }: { readonly content: readonly unknown[] }): unknown =>
  JSON.parse((content[0] as { readonly text: string }).text)

/** What a server asks of the person. */
export function questionRows(load: () => Promise<Sdk>): void {
  describe('elicitation', () => {
    it('is declared where somebody can be asked, and there alone', async () => {
      const capabilities = async (elicit?: Elicit) => {
        const made = bench(await load(), elicit ? { elicit } : {})
        await made.session.ready()
        return (await made.server()).requests('initialize')[0]?.params?.['capabilities']
      }
      expect(await capabilities()).toEqual({ roots: {} })
      expect(await capabilities(person().elicit)).toEqual({ roots: {}, elicitation: { form: {}, url: {} } })
    })

    it.each<[string, ElicitationAnswer]>([
      ['filled in', { action: 'accept', content: { name: 'Ada' } }],
      ['declined', { action: 'decline' }],
      ['left', { action: 'cancel' }],
    ])('asks with a form, which is %s', async (_how, answer) => {
      const { elicit, asked } = person()
      const made = bench(await load(), { elicit, scripts: [asking('elicitation/create', FORM)] })
      const call = made.session.callTool('ask', {})
      await made.until(() => asked.length > 0)
      expect(asked[0]!.question).toMatchObject({
        mode: 'form',
        message: 'Who are\n  you?',
        fields: [
          { type: 'text', name: 'name', title: 'Name', required: true },
          { type: 'integer', name: 'age', title: 'age', required: false, minimum: 0, default: 7 },
        ],
      })
      asked[0]!.answer(answer)
      expect(said(await call)).toEqual(answer)
    })

    it('asks for an address to be opened, and says when that is done', async () => {
      const { elicit, asked } = person()
      const made = bench(await load(), { elicit, scripts: [asking('elicitation/create', address('e-1'))] })
      const call = made.session.callTool('ask', {})
      await made.until(() => asked.length > 0)
      const question = asked[0]!.question as UrlQuestion
      expect(question).toMatchObject({ url: 'https://example.com/in?x=1', host: 'example.com', waits: false })
      asked[0]!.answer({ action: 'accept', content: { never: 'sent' } })
      expect(said(await call)).toEqual({ action: 'accept' })
      const server = await made.server()
      server.push('notifications/elicitation/complete', { elicitationId: 'another' })
      await made.session.request('ping')
      expect(question.done.aborted).toBe(false)
      server.push('notifications/elicitation/complete', { elicitationId: 'e-1' })
      await made.until(() => question.done.aborted)
    })

    it.each([
      ['an answer that does not fit', { name: 5 }],
      ['an answer that leaves something out', {}],
    ])('is not sent %s', async (_what, content) => {
      const { elicit, asked } = person()
      const made = bench(await load(), { elicit })
      await made.session.ready()
      const server = await made.server()
      server.ask('q-1', 'elicitation/create', FORM)
      await made.until(() => asked.length > 0)
      asked[0]!.answer({ action: 'accept', content })
      expect(await server.got(({ id }) => id === 'q-1')).toMatchObject({ error: { code: -32602 } })
    })

    it.each<[string, object]>([
      ['a script', { ...address('e'), url: 'javascript:alert(1)' }],
      ['a file', { ...address('e'), url: 'file:///etc/passwd' }],
      ['an address with somebody’s name', { ...address('e'), url: 'https://bank.com@example.com/' }],
      [
        'an address that is too long to look at',
        { ...address('e'), url: `https://a.com/${'x'.repeat(3_000)}` },
      ],
      ['a form inside a form', form({ a: { type: 'object', properties: {} } })],
      [
        'a form of endless length',
        form(Object.fromEntries(Array.from({ length: 33 }, (_, n) => [n, { type: 'string' }]))),
      ],
      ['nothing', {}],
    ])('with %s is refused, and nobody is asked', async (_what, params) => {
      const { elicit, asked } = person()
      const made = bench(await load(), { elicit })
      await made.session.ready()
      const server = await made.server()
      server.ask('q-1', 'elicitation/create', { ...params })
      expect(await server.got(({ id }) => id === 'q-1')).toMatchObject({ error: { code: REFUSED } })
      expect(asked).toEqual([])
    })

    it('is answered with cancel where whoever asks fails', async () => {
      const made = bench(await load(), { elicit: () => Promise.reject(new Error('no screen')) })
      await made.session.ready()
      const server = await made.server()
      server.ask('q-1', 'elicitation/create', FORM)
      expect(await server.got(({ id }) => id === 'q-1')).toMatchObject({ result: { action: 'cancel' } })
    })

    describe('is over', () => {
      const opened = async () => {
        const { elicit, asked } = person()
        const made = bench(await load(), { elicit, scripts: [{ 'tools/call': ask }] })
        const stop = new AbortController()
        const call = made.session.callTool('ask', {}, { signal: stop.signal })
        call.catch(() => undefined)
        await made.until(() => asked.length > 0)
        return { made, stop, call, server: await made.server(), signal: asked[0]!.signal }
      }

      it('when the server takes it back', async () => {
        const { made, server, signal } = await opened()
        expect(signal.aborted).toBe(false)
        server.push('notifications/cancelled', { requestId: 'q-1' })
        await made.until(() => signal.aborted)
      })

      it('when the session is closed, and the server is told', async () => {
        const { made, server, signal } = await opened()
        await made.session.close()
        expect(signal.aborted).toBe(true)
        expect(server.frames.find(({ id }) => id === 'q-1')).toMatchObject({ result: { action: 'cancel' } })
      })

      it('when the connection is gone', async () => {
        const { made, server, signal } = await opened()
        server.exit()
        await made.until(() => signal.aborted)
        expect(server.frames.some(({ id }) => id === 'q-1')).toBe(false)
      })

      it('when the connection comes to nothing during which it was asked', async () => {
        const { elicit, asked } = person()
        const made = bench(await load(), {
          elicit,
          spec: { requestTimeoutMs: 100, reconnect: { ...serverSpec().reconnect, maxAttempts: 1 } },
          scripts: [{ initialize: ask }],
          knownEra: 'legacy',
          // Not every transport says that it has closed.
          transport: (client) => {
            const { close } = client
            client.close = async () => {
              delete client.onclose
              await close.call(client)
            }
            return client
          },
        })
        await expect(made.session.ready()).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
        expect(asked.map(({ signal }) => signal.aborted)).toEqual([true])
      })

      it('when the call is ended that it was asked for', async () => {
        const { stop, call, server, signal } = await opened()
        stop.abort()
        await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
        expect(signal.aborted).toBe(true)
        expect(await server.got(({ id }) => id === 'q-1')).toMatchObject({ result: { action: 'cancel' } })
      })

      describe('where several calls run', () => {
        /** A call that is left alone, one that asks, and one that came later; each can be stopped. */
        const three = async () => {
          const { elicit, asked } = person()
          const asks: Script['tools/call'] = (to, request) =>
            request.params?.['name'] === 'ask' ? ask(to) : undefined
          const made = bench(await load(), { elicit, scripts: [{ 'tools/call': asks }] })
          await made.session.ready()
          const server = await made.server()
          const call = (name: string) => {
            const stop = new AbortController()
            const ended = made.session.callTool(name, {}, { signal: stop.signal })
            ended.catch(() => undefined)
            return { ended, stop: () => (stop.abort(), ended.catch(() => undefined)) }
          }
          const earlier = call('silent')
          await server.gotRequest('tools/call', 1)
          const asking = call('ask')
          await made.until(() => asked.length > 0)
          const later = call('silent')
          await server.gotRequest('tools/call', 3)
          return { server, earlier, asking, later, signal: asked[0]!.signal }
        }

        it('not when another one goes on that it may be asked for', async () => {
          const { earlier, asking, signal } = await three()
          await asking.stop()
          expect(signal.aborted).toBe(false)
          await earlier.stop()
          expect(signal.aborted).toBe(true)
        })

        it('when the last of those that it may be asked for is answered, and one of them was stopped', async () => {
          const { server, earlier, asking, signal } = await three()
          await asking.stop()
          server.answer(server.requests('tools/call')[0]!, text('done'))
          expect(await earlier.ended).toMatchObject(text('done'))
          expect(signal.aborted).toBe(true)
        })

        it('not while all of them are answered: a server may ask on its own account', async () => {
          const { server, earlier, asking, later, signal } = await three()
          const [first, second] = server.requests('tools/call')
          server.answer(first!, text('done'))
          server.answer(second!, text('done'))
          await Promise.all([earlier.ended, asking.ended])
          await later.stop()
          expect(signal.aborted).toBe(false)
        })
      })
    })

    describe('while it is open', () => {
      it('no call takes too long, and afterwards the server has all of its time', async () => {
        const { elicit, asked } = person()
        const made = bench(await load(), {
          elicit,
          scripts: [
            {
              'tools/call': (server, request) => {
                if (request.params?.['name'] !== 'silent') server.ask('q-1', 'elicitation/create', FORM)
                void server.got(({ id }) => id === 'q-1').then(() => server.answer(request, text('done')))
              },
            },
          ],
        })
        await made.session.ready()
        const calls = [
          made.session.callTool('ask', {}, { timeoutMs: 100 }),
          made.session.callTool('silent', {}, { timeoutMs: 100 }),
        ]
        await made.until(() => asked.length > 0)
        const late = made.session.callTool('silent', {}, { timeoutMs: 100 })
        // Longer than any of them may take.
        await sleep(250)
        asked[0]!.answer({ action: 'cancel' })
        for (const call of [...calls, late]) expect(await call).toMatchObject(text('done'))
      })

      it('time stands still, and goes on then', async () => {
        const { elicit, asked } = person()
        const made = bench(await load(), { elicit, scripts: [{ 'tools/call': ask }] })
        const call = made.session.callTool('ask', {}, { timeoutMs: 50 })
        call.catch(() => undefined)
        await made.until(() => asked.length > 0)
        asked[0]!.answer({ action: 'cancel' })
        await expect(call).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
      })
    })

    describe('that is required before a call is answered', () => {
      const REQUIRED = -32042
      const gate =
        (...ids: readonly string[]): Script['tools/call'] =>
        (server, request) => {
          if (server.requests('tools/call').length > 1) return server.answer(request, text('in'))
          server.refuse(request, REQUIRED, 'Sign in first', { elicitations: ids.map(address) })
        }

      it('is asked, and the call is made again when it is done', async () => {
        const { elicit, asked } = person()
        const made = bench(await load(), { elicit, scripts: [{ 'tools/call': gate('one', 'two') }] })
        const call = made.session.callTool('closed', { a: 1 })
        await made.until(() => asked.length === 1)
        expect(asked[0]!.question).toMatchObject({ mode: 'url', message: 'Sign in', waits: true })
        const server = await made.server()
        server.push('notifications/elicitation/complete', { elicitationId: 'one' })
        await made.until(() => (asked[0]!.question as UrlQuestion).done.aborted)
        asked[0]!.answer({ action: 'accept' })
        await made.until(() => asked.length === 2)
        expect(server.requests('tools/call')).toHaveLength(1)
        asked[1]!.answer({ action: 'accept' })
        expect(await call).toMatchObject(text('in'))
        const [first, second] = server.requests('tools/call')
        expect(second?.params).toEqual(first?.params)
        expect(second?.id).not.toBe(first?.id)
      })

      it('fails the call when it is declined', async () => {
        const { elicit, asked } = person()
        const made = bench(await load(), { elicit, scripts: [{ 'tools/call': gate('one', 'two') }] })
        const call = made.session.callTool('closed', {})
        call.catch(() => undefined)
        await made.until(() => asked.length === 1)
        asked[0]!.answer({ action: 'decline' })
        await expect(call).rejects.toMatchObject({
          code: 'PROTOCOL',
          message:
            'The server "builds" answers when an address has been opened in a browser, which was declined.',
        })
        expect(asked).toHaveLength(1)
        expect((await made.server()).requests('tools/call')).toHaveLength(1)
      })

      it('says that the connection has ended when it ends meanwhile', async () => {
        const { elicit, asked } = person()
        const made = bench(await load(), { elicit, scripts: [{ 'tools/call': gate('one') }] })
        const call = made.session.callTool('closed', {})
        call.catch(() => undefined)
        await made.until(() => asked.length === 1)
        ;(await made.server()).exit()
        await expect(call).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
        expect(asked[0]!.signal.aborted).toBe(true)
      })

      it('is not asked without end', async () => {
        const refuse: Script['tools/call'] = (server, request) =>
          server.refuse(request, REQUIRED, 'Sign in first', { elicitations: [address('again')] })
        let count = 0
        const made = bench(await load(), {
          elicit: async () => (count++, { action: 'accept' }),
          scripts: [{ 'tools/call': refuse }],
        })
        await expect(made.session.callTool('closed', {})).rejects.toMatchObject({ data: { code: REQUIRED } })
        expect(count).toBe(3)
      })

      it.each<[string, unknown]>([
        ['names none', {}],
        ['says nothing', undefined],
        [
          'names what is none',
          { elicitations: [{ mode: 'url', url: 'ftp://a', message: 'x', elicitationId: 'e' }] },
        ],
        ['names too many', { elicitations: Array.from({ length: 5 }, (_, n) => address(String(n))) }],
        ['names something odd', { elicitations: 'all' }],
      ])('fails the call where the error %s', async (_what, data) => {
        const { elicit, asked } = person()
        const made = bench(await load(), {
          elicit,
          scripts: [
            { 'tools/call': (server, request) => server.refuse(request, REQUIRED, 'Sign in first', data) },
          ],
        })
        await expect(made.session.callTool('closed', {})).rejects.toMatchObject({ code: 'PROTOCOL' })
        expect(asked).toEqual([])
      })

      it('is an error in words where nobody can be asked', async () => {
        const made = bench(await load(), { scripts: [{ 'tools/call': gate('one') }] })
        await expect(made.session.callTool('closed', {})).rejects.toMatchObject({
          message: 'The server answered with error -32042: Sign in first',
        })
      })
    })
  })
}

function form(properties: object): object {
  return { message: 'Fill in', requestedSchema: { type: 'object', properties } }
}

function ask(server: ScriptedServer): void {
  server.ask('q-1', 'elicitation/create', FORM)
}
