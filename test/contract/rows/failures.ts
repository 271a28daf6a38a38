import { createSession, isTaplineError, type Sdk, type TransportReport } from '@tapline/core'
import { createMemoryPair, type MemoryTransport } from '@tapline/core/testing'
import { describe, expect, it, vi } from 'vitest'
import { serverSpec } from '../../../core/test/specs.ts'
import { bench } from '../bench.ts'

const dying = (report: TransportReport) => (client: MemoryTransport) =>
  Object.assign(client, { report: () => report })

/** How servers and transports end. */
export function failureRows(load: () => Promise<Sdk>): void {
  describe('a server that dies', () => {
    it('fails the calls that are under way at once, with how it ended and what it said last', async () => {
      const made = bench(await load(), {
        transport: dying({
          ending: 'server exited with code 3',
          stderrTail: 'out of coal\nbye',
          lastStderr: 'bye',
        }),
        scripts: [{ 'tools/call': () => undefined }, {}],
      })
      const calls = [1, 2, 3].map((n) => made.session.callTool(`tool ${n}`, {}))
      const settled = Promise.allSettled(calls)
      const server = await made.server()
      await server.gotRequest('tools/call', 3)
      server.exit()
      for (const outcome of await settled) {
        expect(outcome).toMatchObject({
          reason: {
            code: 'CONNECTION_CLOSED',
            message: 'server exited with code 3\nstderr: out of coal\nbye',
          },
        })
        expect(outcome.status === 'rejected' && isTaplineError(outcome.reason)).toBe(true)
      }
      await made.session.ready()
      expect(made.states).toEqual(['connecting', 'connected', 'reconnecting', 'connecting', 'connected'])
      expect(made.statuses.find(({ state }) => state === 'reconnecting')).toMatchObject({
        reason: 'server exited with code 3 (stderr: bye)',
        report: { ending: 'server exited with code 3', lastStderr: 'bye' },
      })
      expect(made.stale).toBe(2)
    })

    it('makes a call that comes right after it wait for the next connection', async () => {
      const made = bench(await load())
      await made.session.ready()
      const server = await made.server()
      const after = new Promise((resolve) => {
        void server.gotRequest('tools/call').then(() => server.exit())
        made.session
          .callTool('silent', {})
          .catch(() => resolve(made.session.callTool('echo', { text: 'next' })))
      })
      expect(await after).toMatchObject({ content: [{ type: 'text', text: 'next' }] })
      expect(made.servers).toHaveLength(2)
    })

    it('during the handshake fails who waits, with how it ended', async () => {
      const made = bench(await load(), {
        transport: dying({ ending: 'server exited with code 127' }),
        scripts: [{ initialize: (server) => server.exit() }],
        spec: { reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 1 } },
      })
      await expect(made.session.ready()).rejects.toMatchObject({
        code: 'CONNECTION_CLOSED',
        message: 'server exited with code 127',
      })
      expect(made.session.status).toMatchObject({
        state: 'disconnected',
        reason: expect.stringContaining('server exited with code 127'),
      })
    })
  })

  describe('closing', () => {
    it('ends the connection and fails what is under way', async () => {
      const made = bench(await load())
      const call = made.session.callTool('silent', {})
      call.catch(() => undefined)
      const server = await made.server()
      await server.gotRequest('tools/call')
      await made.session.close()
      await expect(call).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
      expect(made.states).toEqual(['connecting', 'connected', 'disabled'])
      expect(made.errors).toEqual([])
      expect(made.servers).toHaveLength(1)
    })

    it('ends although the transport never says that it has closed', async () => {
      const made = bench(await load(), {
        transport: (client) => Object.assign(client, { close: async () => undefined }),
      })
      await made.session.ready()
      await made.session.close()
      expect(made.session.status.state).toBe('disabled')
    })

    it('ends although the transport never stops closing', async () => {
      vi.useFakeTimers()
      const made = bench(await load(), {
        transport: (client) => Object.assign(client, { close: () => new Promise<void>(() => undefined) }),
      })
      await made.session.ready()
      const closed = vi.fn<() => void>()
      void made.session.close().then(closed)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(closed).toHaveBeenCalled()
      expect(made.session.status.state).toBe('disabled')
    })

    it('does not wait for a plugin that is still looking for a way to connect, and closes what it finds', async () => {
      const { client } = createMemoryPair()
      let find: (transport: MemoryTransport) => void = () => undefined
      const session = createSession({
        server: serverSpec(),
        cwd: '/nowhere',
        info: { name: 'tapline', version: '0.0.0' },
        sdk: load,
        transportFor: () => new Promise((resolve) => (find = resolve)),
        onNotification: () => undefined,
        onCatalogueStale: () => undefined,
        onStatus: () => undefined,
        onError: (error) => expect.unreachable(error.message),
      })
      session.start()
      await vi.waitFor(() => expect(find).toHaveLength(1))
      await session.close()
      expect(session.status.state).toBe('disabled')
      find(client)
      await vi.waitFor(() => expect(client.closed).toBe(true))
    })

    it.each(['connecting', 'connected', 'reconnecting', 'disconnected', 'auth_failed'] as const)(
      'works from within the news that the server is %s',
      async (when) => {
        const fail = (code: 'AUTH_FAILED' | 'CONNECTION_CLOSED'): never => {
          throw Object.assign(new Error('no'), { code })
        }
        const made = bench(await load(), {
          scripts: when.startsWith('connect')
            ? [{}]
            : [() => failing(when === 'auth_failed' ? 401 : undefined, fail)],
          spec: { reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 2 } },
          onStatus: ({ state }, { session }) => void (state === when && session.close()),
        })
        made.session.start()
        await made.until(() => made.session.status.state === 'disabled')
        await made.session.close()
        expect(made.states.at(-1)).toBe('disabled')
      },
    )
  })
}

function failing(
  status: number | undefined,
  fail: (code: 'AUTH_FAILED' | 'CONNECTION_CLOSED') => never,
): never {
  if (status === undefined) return fail('CONNECTION_CLOSED')
  throw Object.assign(new Error('no'), { name: 'SdkHttpError', data: { status } })
}
