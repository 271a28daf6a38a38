import type { Sdk } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { bench } from '../bench.ts'

/** What a server says on its own accord. */
export function notificationRows(load: () => Promise<Sdk>): void {
  describe('notifications', () => {
    it('arrive in order, and never enter the SDK of a legacy server', async () => {
      const made = bench(await load())
      await made.session.ready()
      const server = await made.server()
      const methods: string[] = []
      const push = (method: string, params?: Record<string, unknown>): void => {
        methods.push(method)
        server.push(method, params)
      }
      for (let n = 0; n < 100; n++) push('notifications/custom', { n })
      push('notifications/tools/list_changed')
      push('notifications/tools/listChanged', { odd: true })
      push('notifications/resources/updated', { uri: 7 })
      push('notifications/message', { level: 'info', data: 'x' })
      push('notifications/cancelled', { requestId: 'nothing', reason: 'bored' })
      push('not even a proper name')
      await made.session.request('ping')
      expect(made.notifications.map(({ method }) => method)).toEqual(methods)
      expect(made.notifications.slice(0, 100).map(({ params }) => params?.n)).toEqual(
        Array.from({ length: 100 }, (_, n) => n),
      )
      const entered = made.entered.filter(({ id }) => id === undefined)
      expect(entered.map(({ method }) => method)).toEqual(['notifications/cancelled'])
    })

    it('are heard while the handshake is going on', async () => {
      const made = bench(await load(), {
        scripts: [
          {
            initialize: (server, request) => {
              server.push('notifications/early', { n: 1 })
              server.answer(request, {
                protocolVersion: '2025-11-25',
                capabilities: {},
                serverInfo: { name: 'x', version: '0' },
              })
              server.push('notifications/early', { n: 2 })
            },
          },
        ],
      })
      await made.session.ready()
      await made.session.request('ping')
      expect(made.notifications.map(({ params }) => params?.n)).toEqual([1, 2])
      expect(made.entered.map(({ method }) => method).filter(Boolean)).toEqual([])
    })
  })

  describe('a request of the server', () => {
    it.each([
      ['ping', { result: {} }],
      ['roots/list', { result: { roots: [{ uri: 'file:///nowhere', name: 'nowhere' }] } }],
      ['sampling/createMessage', { error: { code: -32601 } }],
      ['elicitation/create', { error: { code: -32601 } }],
      ['x/anything', { error: { code: -32601 } }],
    ])('%s is answered', async (method, answer) => {
      const made = bench(await load())
      await made.session.ready()
      const server = await made.server()
      server.ask('q-1', method, {})
      expect(await server.got(({ id }) => id === 'q-1')).toMatchObject(answer)
      expect(made.notifications).toEqual([])
    })
  })
}
