import { type ErrorDetails, type Sdk, TaplineError } from '@tapline/core'
import { describe, expect, it, vi } from 'vitest'
import { bench } from '../bench.ts'
import type { Script } from '../scripted-server.ts'

const fast = (maxAttempts: number) => ({ reconnect: { initialMs: 1, maxMs: 2, maxAttempts } })
type Code = 'CONNECT_FAILED' | 'AUTH_FAILED' | 'CONFIG_INVALID' | 'CREDENTIAL_MISSING'
const refusing =
  (message: string, code: Code = 'CONNECT_FAILED', details: ErrorDetails = {}) =>
  (): never => {
    throw new TaplineError(code, message, { server: 'builds', ...details })
  }
/** As a program that is not installed. */
const missing = (advice = 'Install it.') =>
  refusing('command not found', 'CONNECT_FAILED', { advice, data: { lasting: true } })
const DIES: Script = { 'notifications/initialized': (server) => server.exit() }

/** How a server is reached again, and when no longer. */
export function reconnectRows(load: () => Promise<Sdk>): void {
  describe('reconnecting', () => {
    it('goes on until it works', async () => {
      const made = bench(await load(), { scripts: [refusing('busy'), refusing('busy'), {}], spec: fast(5) })
      made.session.start()
      await made.until(() => made.session.status.state === 'connected')
      expect(made.states).toEqual([
        'connecting',
        'reconnecting',
        'connecting',
        'reconnecting',
        'connecting',
        'connected',
      ])
      expect(made.session.status.attempt).toBe(3)
      expect(made.errors.map(({ message }) => message)).toEqual(['busy'])
      expect(made.opened).toBe(3)
    })

    it('waits longer each time, up to a limit', async () => {
      vi.useFakeTimers()
      const made = bench(await load(), {
        scripts: [refusing('busy')],
        spec: { reconnect: { initialMs: 1_000, maxMs: 4_000, maxAttempts: 20 } },
      })
      made.session.start()
      const gaps: number[] = []
      await vi.advanceTimersByTimeAsync(0)
      for (let attempt = 1; attempt <= 6; attempt++) {
        const from = Date.now()
        while (made.opened === attempt) await vi.advanceTimersByTimeAsync(100)
        gaps.push(Date.now() - from)
      }
      for (const [index, usual] of [1_000, 2_000, 4_000, 4_000, 4_000, 4_000].entries()) {
        expect(gaps[index]).toBeGreaterThanOrEqual(usual * 0.8 - 100)
        expect(gaps[index]).toBeLessThanOrEqual(usual * 1.2 + 100)
      }
    })

    it('does not wait when somebody asks', async () => {
      const made = bench(await load(), {
        scripts: [refusing('busy'), {}],
        spec: { reconnect: { initialMs: 600_000, maxMs: 600_000, maxAttempts: 5 } },
      })
      await expect(made.session.ready()).rejects.toThrow('busy')
      expect(made.session.status.state).toBe('reconnecting')
      expect(await made.session.callTool('echo', { text: 'now' })).toMatchObject({
        content: [{ text: 'now' }],
      })
    })

    it('ends when the attempts are used up, with what to do, and tries once more for whoever asks', async () => {
      const made = bench(await load(), {
        scripts: [refusing('a'), refusing('b'), refusing('c'), refusing('d'), {}],
        spec: fast(3),
      })
      const { session } = made
      session.start()
      await made.until(() => session.status.state === 'disconnected')
      expect(session.status).toMatchObject({
        reason: 'reconnect attempts exhausted (3); last error: c',
        attempt: 3,
      })
      expect(session.status.attention).toMatch(/\/mcp reconnect/)
      expect(made.errors.map(({ code }) => code)).toEqual([
        'CONNECT_FAILED',
        'CONNECT_FAILED',
        'CONNECT_FAILED',
        'RECONNECT_EXHAUSTED',
      ])
      expect(made.opened).toBe(3)

      await expect(session.callTool('echo', {})).rejects.toMatchObject({
        code: 'RECONNECT_EXHAUSTED',
        message: expect.stringContaining('last error: d'),
      })
      expect(session.status.state).toBe('disconnected')
      expect(made.opened).toBe(4)
      expect(await session.callTool('echo', { text: 'back' })).toMatchObject({ content: [{ text: 'back' }] })
      expect(made.opened).toBe(5)
    })

    it('starts over at full strength when it is told to', async () => {
      const made = bench(await load(), { scripts: [refusing('a')], spec: fast(2) })
      await made.session.ready().catch(() => undefined)
      await made.until(() => made.session.status.state === 'disconnected')
      expect(made.opened).toBe(2)
      await made.session.reconnect().catch(() => undefined)
      await made.until(() => made.opened === 4 && made.session.status.state === 'disconnected')
      // What was reported is reported again, since somebody wants to know.
      expect(made.errors.map(({ message }) => message).filter((message) => message === 'a')).toHaveLength(2)
    })

    it('replaces a connection that works when it is told to', async () => {
      const made = bench(await load())
      await made.session.ready()
      await made.session.reconnect()
      expect(made.servers).toHaveLength(2)
      expect(made.states).toEqual(['connecting', 'connected', 'connecting', 'connected'])
      expect(made.session.status.attempt).toBe(1)
      expect(made.errors).toEqual([])
      expect(made.stale).toBe(2)
    })

    it('stops at once for refused credentials, until somebody asks', async () => {
      const made = bench(await load(), { scripts: [refusing('wrong key', 'AUTH_FAILED'), {}], spec: fast(5) })
      await expect(made.session.ready()).rejects.toMatchObject({ code: 'AUTH_FAILED' })
      expect(made.session.status).toMatchObject({
        state: 'auth_failed',
        reason: 'wrong key',
        attention: expect.stringContaining('credential'),
      })
      expect(made.opened).toBe(1)
      await made.session.ready()
      expect(made.session.status.state).toBe('connected')
    })

    it.each([
      ['a program that is missing', missing(), 'Install it.'],
      ['an entry that is wrong', refusing('no', 'CONFIG_INVALID', { advice: 'Fix it.' }), 'Fix it.'],
    ])(
      'is not tried again by itself with %s: it is said once, with what to do',
      async (_, script, attention) => {
        const made = bench(await load(), { scripts: [script], spec: fast(5) })
        const { session } = made
        await expect(session.ready()).rejects.toMatchObject({ advice: attention })
        expect(session.status).toMatchObject({ state: 'disconnected', attention, attempt: 1 })
        expect(session.status.reason).not.toMatch(/exhausted/)
        expect(made.states).toEqual(['connecting', 'disconnected'])
        // Each call is one attempt, with the same answer, and no more news.
        for (const opened of [2, 3]) {
          await expect(session.callTool('echo', {})).rejects.toMatchObject({ advice: attention })
          expect(made.opened).toBe(opened)
        }
        expect(made.errors).toHaveLength(1)
        expect(made.over).toEqual([true])
        await session.reconnect().catch(() => undefined)
        expect(made.errors).toHaveLength(2)
        expect(made.opened).toBe(4)
      },
    )

    it('is tried when somebody asks, and then with its whole budget', async () => {
      const made = bench(await load(), {
        scripts: [missing(), refusing('busy'), refusing('busy'), {}],
        spec: fast(4),
      })
      await made.session.ready().catch(() => undefined)
      await expect(made.session.callTool('echo', {})).rejects.toThrow('busy')
      await made.until(() => made.session.status.state === 'connected')
      expect(made.opened).toBe(4)
    })

    it('goes on where what is missing was there before: it may be away for a moment', async () => {
      const made = bench(await load(), {
        scripts: [{}, missing(), missing(), {}],
        spec: fast(5),
        knownEra: 'legacy',
      })
      await made.session.ready()
      made.servers[0]!.exit()
      await made.until(() => made.opened === 4 && made.session.status.state === 'connected')
      expect(made.statuses.find(({ reason }) => reason === 'command not found')).toMatchObject({
        state: 'reconnecting',
        attention: 'Install it.',
      })
      expect(made.over.every((over) => !over)).toBe(true)
    })

    it('says while it goes on what to do, where the error knows', async () => {
      const made = bench(await load(), {
        scripts: [refusing('no token', 'CREDENTIAL_MISSING', { advice: 'Store it.' }), refusing('busy'), {}],
        spec: fast(5),
      })
      made.session.start()
      await made.until(() => made.session.status.state === 'connected')
      const waiting = made.statuses.filter(({ state }) => state === 'reconnecting')
      expect(waiting.map(({ attention }) => attention)).toEqual(['Store it.', undefined])
      expect(made.session.status.attention).toBeUndefined()
    })

    it('says whether it is a sign-in that is waited for', async () => {
      const wanted = refusing('sign in', 'AUTH_FAILED', { data: { signIn: true } })
      const made = bench(await load(), {
        scripts: [wanted, refusing('wrong key', 'AUTH_FAILED')],
        spec: fast(5),
      })
      await made.session.ready().catch(() => undefined)
      expect(made.session.status).toMatchObject({ state: 'auth_failed', signIn: true })
      await made.session.ready().catch(() => undefined)
      expect(made.session.status).toMatchObject({ state: 'auth_failed', reason: 'wrong key' })
      expect(made.session.status.signIn).toBeUndefined()
    })

    it('does not go on for ever with a server that answers initialize and exits', async () => {
      const made = bench(await load(), { scripts: [DIES], spec: fast(4), knownEra: 'legacy' })
      made.session.start()
      await made.until(() => made.session.status.state === 'disconnected')
      expect(made.opened).toBe(4)
    })

    it('gives the attempts back to a connection that has lasted', async () => {
      vi.useFakeTimers()
      const made = bench(await load(), { spec: fast(2), refundAfterMs: 1_000, knownEra: 'legacy' })
      await made.session.ready()
      for (let life = 1; life <= 5; life++) {
        await vi.advanceTimersByTimeAsync(1_000)
        made.servers.at(-1)!.exit()
        await vi.advanceTimersByTimeAsync(10)
        expect(made.session.status).toMatchObject({ state: 'connected', attempt: 1 })
        expect(made.servers).toHaveLength(life + 1)
      }
      // Each time it is news again.
      expect(made.errors).toHaveLength(5)
      for (const _ of [1, 2]) {
        await vi.advanceTimersByTimeAsync(999 / 2)
        made.servers.at(-1)!.exit()
        await vi.advanceTimersByTimeAsync(10)
      }
      expect(made.session.status.state).toBe('disconnected')
    })

    it('reports each distinct error once, in whatever order they come', async () => {
      const made = bench(await load(), {
        scripts: ['a', 'b', 'a', 'b', 'a', 'c'].map((message) => refusing(message)),
        spec: fast(6),
      })
      made.session.start()
      await made.until(() => made.session.status.state === 'disconnected')
      expect(made.errors.map(({ message }) => message)).toEqual([
        'a',
        'b',
        'c',
        'reconnect attempts exhausted (6); last error: c',
      ])
    })
  })
}
