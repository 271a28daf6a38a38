import type { Sdk } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { bench } from '../bench.ts'
import type { Script } from '../scripted-server.ts'

/** A legacy server with these resources, page by page, that refuses what is secret. */
function library(pages: readonly (readonly string[])[], log: string[], capable = true): Script {
  return {
    initialize: (server, request) =>
      server.answer(request, {
        protocolVersion: '2025-11-25',
        capabilities: capable ? { resources: { subscribe: true, listChanged: true } } : { resources: {} },
        serverInfo: { name: 'library', version: '1' },
      }),
    'resources/list': (server, request) => {
      const page = Number((request.params as { cursor?: string } | undefined)?.cursor ?? 0)
      server.answer(request, {
        resources: (pages[page] ?? []).map((uri) => ({ uri, name: uri })),
        ...(page + 1 < pages.length ? { nextCursor: String(page + 1) } : {}),
      })
    },
    'resources/subscribe': (server, request) => {
      const { uri } = request.params as { uri: string }
      log.push(`+${uri}`)
      if (uri.includes('secret')) server.refuse(request, -32602, 'not for you')
      else server.answer(request, {})
    },
    'resources/unsubscribe': (server, request) => {
      log.push(`-${(request.params as { uri: string }).uri}`)
      server.answer(request, {})
    },
  }
}

/** Subscriptions to resources of a legacy server. */
export function subscriptionRows(load: () => Promise<Sdk>): void {
  describe('a subscription', () => {
    it('is asked for by address and by pattern over the whole list, and what is refused is told', async () => {
      const log: string[] = []
      const made = bench(await load(), {
        spec: { subscribe: ['file:///a', 'db://*', 'file:///secret'] },
        scripts: [library([['db://one', 'file:///b'], ['db://two']], log)],
      })
      await made.session.ready()
      await made.until(() => made.session.status.subscriptions !== undefined)
      expect(log.toSorted()).toEqual(['+db://one', '+db://two', '+file:///a', '+file:///secret'])
      expect(made.session.status.subscriptions).toEqual({
        active: ['file:///a', 'db://one', 'db://two'],
        refused: [{ uri: 'file:///secret', reason: expect.stringContaining('not for you') as string }],
      })
      expect(made.errors.map(({ code }) => code)).toEqual(['SUBSCRIPTION_REFUSED'])
      expect(made.errors[0]?.message).toContain('file:///secret')
    })

    it('is replayed on every new connection, the refused ones too', async () => {
      const log: string[] = []
      const made = bench(await load(), {
        spec: { subscribe: ['file:///a', 'file:///secret'] },
        scripts: [library([], log)],
      })
      await made.session.ready()
      await made.until(() => log.length === 2)
      await made.session.reconnect()
      await made.until(() => log.length === 4)
      expect(log.slice(2)).toEqual(['+file:///a', '+file:///secret'])
      await made.until(() => made.session.status.subscriptions?.active.length === 1)
      // The same refusal is told once.
      expect(made.errors.length).toBeLessThanOrEqual(2)
    })

    it('follows the list: what is new is subscribed to, what is gone is not', async () => {
      const log: string[] = []
      const pages = [['db://one']]
      const made = bench(await load(), { spec: { subscribe: ['db://*'] }, scripts: [library(pages, log)] })
      await made.session.ready()
      await made.until(() => made.session.status.subscriptions?.active.length === 1)
      pages[0] = ['db://two', 'db://three']
      const server = await made.server()
      server.push('notifications/resources/list_changed')
      await made.until(() => log.length === 4)
      expect(log).toEqual(['+db://one', '+db://two', '+db://three', '-db://one'])
      await made.until(() => made.session.status.subscriptions?.active.join() === 'db://two,db://three')
    })

    it('is told of where the server offers none, and where it cannot list', async () => {
      const without = bench(await load(), {
        spec: { subscribe: ['file:///a'] },
        scripts: [library([], [], false)],
      })
      await without.session.ready()
      await without.until(() => without.session.status.subscriptions !== undefined)
      expect(without.session.status.subscriptions?.refused).toEqual([
        { uri: 'file:///a', reason: 'the server does not offer subscriptions to its resources.' },
      ])

      const broken = bench(await load(), {
        spec: { subscribe: ['db://*'] },
        scripts: [
          {
            ...library([], []),
            'resources/list': (server, request) => server.refuse(request, -32603, 'out of paper'),
          },
        ],
      })
      await broken.session.ready()
      await broken.until(() => broken.session.status.subscriptions !== undefined)
      expect(broken.session.status.subscriptions?.refused).toMatchObject([
        { uri: 'db://*', reason: expect.stringContaining('out of paper') as string },
      ])
    })

    it('is not asked for where nothing is wanted', async () => {
      const log: string[] = []
      const made = bench(await load(), { scripts: [library([['db://one']], log)] })
      await made.session.ready()
      await made.session.request('ping')
      expect(log).toEqual([])
      expect(made.session.status).not.toHaveProperty('subscriptions')
    })
  })
}
