import { type Sdk, TaplineError, type Transport } from '@tapline/core'
import type { MemoryTransport } from '@tapline/core/testing'
import { describe, expect, it } from 'vitest'
import { bench } from '../bench.ts'
import type { Script } from '../scripted-server.ts'

/** As the SDK knows a child process. */
const child = (client: MemoryTransport): Transport => Object.assign(client, { pid: 4711, stderr: null })

/** How a session finds out which era a server is of, and remembers it. */
export function eraRows(load: () => Promise<Sdk>): void {
  describe('the era of a server', () => {
    it('is legacy when the probe is refused, on the same connection', async () => {
      const made = bench(await load())
      await made.session.ready()
      expect((await made.server()).methods).toEqual([
        'server/discover',
        'initialize',
        'notifications/initialized',
      ])
      expect(made.opened).toBe(1)
      expect([...made.eras]).toEqual([['builds', 'legacy']])
    })

    it('is not asked for again once it is known', async () => {
      const made = bench(await load())
      await made.session.ready()
      await made.session.reconnect()
      expect((await made.server(2)).methods).toEqual(['initialize', 'notifications/initialized'])
    })

    const DIES_ON_PROBE: Script = { 'server/discover': (server) => server.exit() }
    it.each([
      ['a child process', child],
      ['any other transport', (client: MemoryTransport): Transport => client],
    ])('is legacy when the server dies on the probe: %s is opened once more', async (_what, transport) => {
      const made = bench(await load(), { transport, scripts: [DIES_ON_PROBE] })
      await made.session.ready()
      expect(made.servers.map(({ methods }) => methods)).toEqual([
        ['server/discover'],
        ['initialize', 'notifications/initialized'],
      ])
      expect(made.states).toEqual(['connecting', 'connected'])
      expect(made.errors).toEqual([])
      expect(made.session.status.attempt).toBe(1)
      expect(made.eras.get('builds')).toBe('legacy')
    })

    const SILENT_TO_PROBE: Script = { 'server/discover': () => undefined }
    it.each([
      ['a child process, on the same connection', child, 1],
      ['any other transport, on a new one', (client: MemoryTransport): Transport => client, 2],
    ] as const)('is legacy when the server is silent to the probe: %s', async (_what, transport, opened) => {
      const made = bench(await load(), {
        transport,
        scripts: [SILENT_TO_PROBE],
        spec: { requestTimeoutMs: 40 },
      })
      await made.session.ready()
      expect(made.session.status).toMatchObject({ state: 'connected', era: 'legacy' })
      expect(made.opened).toBe(opened)
      expect(made.errors).toEqual([])
    })

    it('is forgotten when the server no longer takes the handshake that it took before', async () => {
      const made = bench(await load(), {
        knownEra: 'legacy',
        scripts: [
          {
            initialize: (server, request) =>
              server.refuse(request, -32022, 'Unsupported', { supported: ['2026-07-28'] }),
          },
          {},
        ],
        spec: { reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 5 } },
      })
      made.session.start()
      await made.until(() => made.session.status.state === 'connected')
      expect(made.servers.map(({ methods }) => methods[0])).toEqual(['initialize', 'server/discover'])
    })

    it.each([
      [
        'was never spawned',
        new TaplineError('CONNECT_FAILED', 'no such program', { data: { spawned: false } }),
      ],
      ['cannot be reached', new TaplineError('CONNECT_FAILED', 'no route', { data: { unreachable: true } })],
      ['has no credentials', new TaplineError('CREDENTIAL_MISSING', 'no key')],
      ['failed before anything was sent', new TaplineError('CONNECT_FAILED', 'the sign-in was interrupted')],
    ])('does not matter for a server that %s: the attempt is not repeated', async (_what, error) => {
      const made = bench(await load(), {
        scripts: [
          () => {
            throw error
          },
        ],
        spec: { reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 1 } },
      })
      await expect(made.session.ready()).rejects.toMatchObject({ message: error.message })
      expect(made.opened).toBe(1)
    })
  })
}
