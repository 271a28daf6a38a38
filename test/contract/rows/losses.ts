import { type Frame, type Sdk, TaplineError, type Transport } from '@tapline/core'
import type { MemoryTransport } from '@tapline/core/testing'
import { describe, expect, it } from 'vitest'
import { type Bench, bench } from '../bench.ts'

/** The client's end of a connection whose server forgot the session: calls are refused, unheard. */
function forgetful(
  client: MemoryTransport,
  forgets: (frame: Frame) => boolean | Promise<boolean>,
): Transport {
  const send = client.send.bind(client)
  return Object.assign(client, {
    send: async (frame: Frame) => {
      if (frame.method === 'tools/call' && (await forgets(frame))) {
        throw new TaplineError('SESSION_LOST', 'The server no longer knows the session (HTTP 404).', {
          data: { status: 404 },
        })
      }
      await send(frame)
    },
  })
}

const calls = ({ servers }: Bench, connection: number): number =>
  servers[connection - 1]?.requests('tools/call').length ?? 0
const handshakes = ({ servers }: Bench): number =>
  servers.reduce((sum, server) => sum + server.requests('initialize').length, 0)
const fast = (maxAttempts: number) => ({ reconnect: { initialMs: 1, maxMs: 2, maxAttempts } })

/** What happens when a server no longer knows its session. */
export function lossRows(load: () => Promise<Sdk>): void {
  describe('a lost session', () => {
    it('is opened again once for however many calls, and each is sent once more', async () => {
      const made = bench(await load(), {
        transport: (client, connection) => forgetful(client, () => connection === 1),
        knownEra: 'legacy',
      })
      await made.session.ready()
      const texts = Array.from({ length: 20 }, (_, n) => `call ${n}`)
      const answers = await Promise.all(texts.map((text) => made.session.callTool('echo', { text })))
      expect(answers.map(({ content }) => content)).toEqual(texts.map((text) => [{ type: 'text', text }]))
      expect(handshakes(made)).toBe(2)
      expect([calls(made, 1), calls(made, 2)]).toEqual([0, 20])
      expect(made.states).toEqual(['connecting', 'connected', 'connecting', 'connected'])
      expect(made.errors).toEqual([])
      expect(made.stale).toBe(2)
    })

    it('is noticed by each call in its own time', async () => {
      const made = bench(await load(), {
        transport: (client, connection) =>
          forgetful(client, async ({ params }) => {
            if (connection > 1) return false
            for (let turns = Number(params?.name); turns > 0; turns--)
              await new Promise((resolve) => setImmediate(resolve))
            return true
          }),
        scripts: [{ 'tools/call': (server, request) => server.answer(request, { content: [] }) }],
        knownEra: 'legacy',
      })
      await made.session.ready()
      const outcomes = await Promise.allSettled(
        [0, 1, 2, 5, 20].map((turns) => made.session.callTool(String(turns), {})),
      )
      expect(outcomes.map(({ status }) => status)).toEqual(Array<string>(5).fill('fulfilled'))
      expect(handshakes(made)).toBe(2)
      expect(calls(made, 2)).toBe(5)
    })

    it('is opened again as often as it is lost, at no cost', async () => {
      let forgotten = 0
      const made = bench(await load(), {
        transport: (client, connection) => forgetful(client, () => connection <= forgotten),
        spec: fast(3),
        knownEra: 'legacy',
      })
      await made.session.ready()
      // A server that its author restarts at every save.
      for (forgotten = 1; forgotten <= 10; forgotten++) {
        expect(await made.session.callTool('echo', { text: `save ${forgotten}` })).toMatchObject({
          content: [{ text: `save ${forgotten}` }],
        })
      }
      expect(handshakes(made)).toBe(11)
      expect(made.errors).toEqual([])
    })

    it.each([
      ['401', 401, 2],
      ['403', 403, 1],
    ])(
      'or credentials that are refused with HTTP %s: the call is sent %d times',
      async (_status, status, sent) => {
        let calls = 0
        const made = bench(await load(), {
          transport: (client) => {
            const send = client.send.bind(client)
            return Object.assign(client, {
              send: async (frame: Frame) => {
                if (frame.method !== 'tools/call') return send(frame)
                calls++
                throw Object.assign(new Error('refused'), {
                  name: 'SdkHttpError',
                  code: 'CLIENT_HTTP',
                  data: { status },
                })
              },
            })
          },
          knownEra: 'legacy',
        })
        await expect(made.session.callTool('echo', {})).rejects.toMatchObject({
          code: 'AUTH_FAILED',
          data: { status },
        })
        expect(calls).toBe(sent)
        expect(made.opened).toBe(sent)
      },
    )

    it('is not opened a second time for the same call', async () => {
      const made = bench(await load(), {
        transport: (client) => forgetful(client, () => true),
        knownEra: 'legacy',
      })
      await expect(made.session.callTool('echo', {})).rejects.toMatchObject({
        code: 'SESSION_LOST',
        data: { status: 404 },
      })
      expect(handshakes(made)).toBe(2)
      expect(made.session.status.state).toBe('connected')
    })

    it('that cannot be opened again fails the call with the reason', async () => {
      const made = bench(await load(), {
        transport: (client) => forgetful(client, () => true),
        scripts: [
          {},
          () => {
            throw new TaplineError('CONNECT_FAILED', 'nobody is there', { data: { unreachable: true } })
          },
        ],
        spec: fast(5),
        knownEra: 'legacy',
      })
      await expect(made.session.callTool('echo', {})).rejects.toMatchObject({
        code: 'CONNECT_FAILED',
        message: 'nobody is there',
      })
    })

    it('is opened again when the transport notices it by itself', async () => {
      let lose = (): void => undefined
      const made = bench(await load(), {
        transport: (client) => {
          lose = () => (client as Transport).onsessionlost?.()
          return client
        },
        knownEra: 'legacy',
      })
      await made.session.ready()
      lose()
      await made.until(() => made.servers.length === 2 && made.session.status.state === 'connected')
      expect(made.stale).toBe(2)
      expect(made.errors).toEqual([])
      expect(await made.session.callTool('echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] })
    })

    it('is not opened again without end when it is lost each time', async () => {
      const made = bench(await load(), {
        transport: (client) => {
          const send = client.send.bind(client)
          return Object.assign(client, {
            send: async (frame: Frame) => {
              await send(frame)
              // A server that knows no event stream answers 404 to one that asks with a session.
              if (frame.method === 'notifications/initialized')
                setImmediate(() => (client as Transport).onsessionlost?.())
            },
          })
        },
        spec: fast(4),
        knownEra: 'legacy',
      })
      made.session.start()
      await made.until(() => made.session.status.state === 'disconnected' || made.opened > 50)
      expect(made.session.status.state).toBe('disconnected')
      expect(made.opened).toBeLessThanOrEqual(5)
    })
  })

  describe('a push stream that was broken', () => {
    it('makes the catalogue stale when it is open again', async () => {
      let resume = (): void => undefined
      const made = bench(await load(), {
        transport: (client) => {
          resume = () => (client as Transport).onpushresumed?.()
          return client
        },
      })
      await made.session.ready()
      expect(made.stale).toBe(1)
      resume()
      expect(made.stale).toBe(2)
      expect(made.servers).toHaveLength(1)
    })

    it('shows what the transport knows of it', async () => {
      let pushStream: 'open' | 'none' = 'open'
      let news = (): void => undefined
      const made = bench(await load(), {
        transport: (client) => {
          news = () => (client as Transport).onreport?.()
          return Object.assign(client, { report: () => ({ pushStream }) })
        },
      })
      await made.session.ready()
      pushStream = 'none'
      news()
      expect(made.statuses.at(-1)).toMatchObject({ state: 'connected', report: { pushStream: 'none' } })
    })
  })
}
