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

    it('that is refused a thousand times is told of once, and asked for again on the next connection', async () => {
      const log: string[] = []
      const secrets = Array.from({ length: 3_000 }, (_, n) => `db://secret-${n}\u001b[31m`)
      const made = bench(await load(), {
        spec: { subscribe: ['db://*'] },
        scripts: [library([secrets], log)],
      })
      await made.session.ready()
      await made.until(() => made.session.status.subscriptions !== undefined)
      expect(log).toHaveLength(1_000)
      expect(made.session.status.subscriptions?.active).toEqual([])
      // Those of the list that were asked for, and the pattern, which matches more.
      expect(made.session.status.subscriptions?.refused).toHaveLength(1_001)
      expect(made.errors.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^1001 subscriptions failed, the first to \S+: /) as string,
      ])
      expect(made.errors[0]?.message).not.toContain('\u001b')
      await made.session.reconnect()
      await made.until(() => log.length === 2_000)
      await made.until(() => made.session.status.subscriptions?.refused.length === 1_001)
      // Somebody asked for the new connection, so it is said anew.
      expect(made.errors).toHaveLength(2)
    })

    it('follows a list that changes all the time at its own pace, and forgets what is gone', async () => {
      const log: string[] = []
      let lists = 0
      let version = 0
      const changing = library([], log)
      const made = bench(await load(), {
        spec: { subscribe: ['db://*'] },
        scripts: [
          {
            ...changing,
            'resources/list': (server, request) => {
              lists++
              version++
              const uris = [`db://secret-${version}`, `db://${version}`, 'db://secret-always']
              server.answer(request, { resources: uris.map((uri) => ({ uri, name: uri })) })
            },
          },
        ],
      })
      await made.session.ready()
      const server = await made.server()
      const ends = performance.now() + 2_500
      while (performance.now() < ends) {
        server.push('notifications/resources/list_changed')
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      expect(lists).toBeGreaterThanOrEqual(3)
      expect(lists).toBeLessThanOrEqual(4)
      await made.until(() => made.session.status.subscriptions?.active.join() === `db://${version}`)
      expect(made.session.status.subscriptions?.refused.map(({ uri }) => uri).toSorted()).toEqual(
        [`db://secret-${version}`, 'db://secret-always'].toSorted(),
      )
      // What was refused and still stands in the list is not asked for again.
      expect(log.filter((line) => line === '+db://secret-always')).toHaveLength(1)
    })

    it('to a list without an end is made as far as it was read, and that is told', async () => {
      let page = 0
      const made = bench(await load(), {
        spec: { subscribe: ['db://*'] },
        scripts: [
          {
            ...library([], []),
            'resources/list': (server, request) => {
              page++
              const uri = `db://${page}`
              server.answer(request, { resources: [{ uri, name: uri }], nextCursor: String(page) })
            },
          },
        ],
      })
      await made.session.ready()
      await made.until(() => made.session.status.subscriptions !== undefined)
      expect(page).toBe(64)
      expect(made.session.status.subscriptions?.active).toHaveLength(64)
      expect(made.session.status.subscriptions?.refused).toEqual([
        { uri: 'db://*', reason: "the server's list of resources has no end; 64 pages were read." },
      ])
    })

    it('by address does not wait for a list that never comes', async () => {
      const log: string[] = []
      const made = bench(await load(), {
        spec: { subscribe: ['db://*', 'file:///a'], requestTimeoutMs: 500 },
        scripts: [{ ...library([], log), 'resources/list': () => undefined }],
      })
      await made.session.ready()
      await made.until(() => made.session.status.subscriptions?.active.join() === 'file:///a')
      expect(made.errors).toEqual([])
      await made.until(() => made.errors.length === 1)
      expect(made.errors[0]?.message).toMatch(
        /^the subscription to db:\/\/\* failed: its resources could not be listed: .*in time/,
      )
    })

    it('is given up where the server is silent to it, and not asked for again and again', async () => {
      const log: string[] = []
      const made = bench(await load(), {
        spec: { subscribe: ['db://*'], requestTimeoutMs: 300 },
        scripts: [
          {
            ...library([['db://1', 'db://2', 'db://3']], log),
            'resources/subscribe': (_server, request) =>
              void log.push((request.params as { uri: string }).uri),
          },
        ],
      })
      await made.session.ready()
      await made.until(() => made.session.status.subscriptions?.refused.length === 3)
      expect(log).toEqual(['db://1'])
      expect(made.session.status.subscriptions?.refused.map(({ reason }) => reason)).toEqual([
        expect.stringContaining('in time') as string,
        'the server does not answer.',
        'the server does not answer.',
      ])
    })

    it('beyond a thousand is told of, also where each is named', async () => {
      const log: string[] = []
      const subscribe = Array.from({ length: 1_002 }, (_, n) => `file:///${n}`)
      const made = bench(await load(), { spec: { subscribe }, scripts: [library([], log)] })
      await made.session.ready()
      await made.until(() => made.session.status.subscriptions !== undefined)
      expect(log).toHaveLength(1_000)
      expect(made.session.status.subscriptions?.refused).toEqual(
        ['file:///1000', 'file:///1001'].map((uri) => ({
          uri,
          reason: 'only 1000 resources of a server are subscribed to.',
        })),
      )
    })

    it('survives any answer to the list', async () => {
      const answers = [
        42,
        [],
        { resources: null },
        { resources: [null, 1, { uri: 3 }, { uri: 'db://ok' }], nextCursor: 5 },
      ]
      for (const answer of answers) {
        const made = bench(await load(), {
          spec: { subscribe: ['db://*'], requestTimeoutMs: 500 },
          scripts: [
            { ...library([], []), 'resources/list': (server, request) => server.answer(request, answer) },
          ],
        })
        await made.session.ready()
        await made.until(() => made.session.status.subscriptions !== undefined)
        expect(made.session.status.state).toBe('connected')
      }
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
