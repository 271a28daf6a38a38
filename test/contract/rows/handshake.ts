import type { Sdk } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { bench } from '../bench.ts'

/** How a session begins, and ends before it has begun. */
export function handshakeRows(load: () => Promise<Sdk>): void {
  describe('the handshake', () => {
    it('connects and says with whom', async () => {
      const made = bench(await load())
      const { session } = made
      expect(session.status).toMatchObject({ state: 'pending', attempt: 0 })
      session.start()
      await session.ready()
      expect(session.status).toMatchObject({
        state: 'connected',
        attempt: 1,
        era: 'legacy',
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'scripted', version: '1.2.3' },
        capabilities: { tools: { listChanged: true } },
        instructions: 'Ask politely.',
      })
      expect(made.states).toEqual(['connecting', 'connected'])
      expect(made.stale).toBe(1)
      expect(made.errors).toEqual([])
      const server = await made.server()
      expect(server.methods.filter((method) => method !== 'server/discover')).toEqual([
        'initialize',
        'notifications/initialized',
      ])
      expect(server.requests('initialize')[0]?.params).toMatchObject({
        clientInfo: { name: 'tapline', version: '0.0.0' },
        capabilities: { roots: {} },
      })
    })

    it('connects for whoever asks first, once for all of them', async () => {
      const made = bench(await load())
      const { session } = made
      await Promise.all([session.ready(), session.listTools(), session.callTool('echo', {}), session.ready()])
      expect(made.servers).toHaveLength(1)
      await session.ready()
    })

    it('speaks the revision that the server chose', async () => {
      const { session } = bench(await load(), {
        scripts: [
          {
            initialize: (server, request) =>
              server.answer(request, {
                protocolVersion: '2024-11-05',
                capabilities: {},
                serverInfo: { name: 'old', version: '0' },
              }),
          },
        ],
      })
      await session.ready()
      expect(session.status).toMatchObject({
        state: 'connected',
        protocolVersion: '2024-11-05',
        era: 'legacy',
      })
    })

    it('ends when it is closed meanwhile, and stays closed', async () => {
      const made = bench(await load(), { scripts: [{ initialize: () => undefined }] })
      const { session } = made
      const ready = session.ready()
      ready.catch(() => undefined)
      const server = await made.server()
      await server.gotRequest('initialize')
      await session.close()
      await expect(ready).rejects.toMatchObject({
        code: 'NOT_CONNECTED',
        message: 'Server "builds" is not connected: it was stopped.',
      })
      expect(session.status).toEqual({ state: 'disabled', attempt: 0, report: {} })
      expect(made.states).toEqual(['connecting', 'disabled'])
      expect(server.methods).not.toContain('notifications/cancelled')
      expect(made.servers).toHaveLength(1)
      expect(made.errors).toEqual([])
      await expect(session.callTool('echo', {})).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
      await expect(session.reconnect()).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
      await session.close()
    })

    it('ends when it is closed before it began', async () => {
      const made = bench(await load())
      await made.session.close()
      expect(made.session.status.state).toBe('disabled')
      made.session.start()
      await expect(made.session.ready()).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
      expect(made.opened).toBe(0)
    })

    it('does not start a transport that it got after it was closed', async () => {
      let started = false
      const made = bench(await load(), {
        transport: (client) => Object.assign(client, { start: async () => void (started = true) }),
        onStatus: ({ state }, { session }) => void (state === 'connecting' && session.close()),
      })
      await expect(made.session.ready()).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
      await made.session.close()
      expect(started).toBe(false)
    })

    it('gives up on a server that never answers, and does not cancel its initialize', async () => {
      const made = bench(await load(), {
        spec: { requestTimeoutMs: 30, reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 1 } },
        scripts: [{ initialize: () => undefined, 'server/discover': () => undefined }],
      })
      await expect(made.session.ready()).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
      for (const server of made.servers) expect(server.methods).not.toContain('notifications/cancelled')
    })

    it('tells a refusal in the server’s own words, cleaned', async () => {
      const made = bench(await load(), {
        spec: { reconnect: { initialMs: 1, maxMs: 1, maxAttempts: 1 } },
        scripts: [
          { initialize: (server, request) => server.refuse(request, -32000, 'Closed\u001B[2J\non Sundays.') },
        ],
      })
      await expect(made.session.ready()).rejects.toMatchObject({
        code: 'PROTOCOL',
        message: 'The server answered with error -32000: Closed on Sundays.',
        data: { code: -32000 },
      })
    })

    it('stops waiting when the one who waits gives up, and goes on connecting', async () => {
      const made = bench(await load(), { scripts: [{ initialize: () => undefined }] })
      const { session } = made
      const giveUp = new AbortController()
      const ready = session.ready(giveUp.signal)
      await (await made.server()).gotRequest('initialize')
      giveUp.abort()
      await expect(ready).rejects.toMatchObject({ code: 'CANCELLED' })
      expect(session.status.state).toBe('connecting')
      await expect(session.ready(AbortSignal.abort())).rejects.toMatchObject({ code: 'CANCELLED' })
    })
  })
}
