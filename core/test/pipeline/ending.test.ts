import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Overflow, Plugin } from '../../src/index.ts'
import { balance, gate, routing, type Sink, steps } from './routing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An inbox that remembers what it was told of each line. */
function inbox(): {
  readonly lines: (Partial<Overflow> & { reason?: string; newest: string })[]
  sink: Sink
} {
  const lines: (Partial<Overflow> & { reason?: string; newest: string })[] = []
  return {
    lines,
    sink: ({ traceId }, { overflow, reason }) => {
      const { count, limit } = overflow ?? {}
      lines.push({
        newest: traceId,
        ...(reason === undefined ? {} : { reason }),
        ...(count === undefined ? {} : { count }),
        ...(limit === undefined ? {} : { limit }),
      })
      return { sink: 'inbox' }
    },
  }
}

/** A sink that never answers. */
const stuck = (sink: string): Plugin => ({
  name: 'stuck',
  api: 1,
  setup: ({ hooks }) => hooks.deliver.sink(sink).tapPromise({}, () => new Promise(() => undefined)),
})

describe('a session that ends', () => {
  it('tells the inbox also of what exceeds a limit only then', async () => {
    const { opened, open } = gate()
    const { lines, sink } = inbox()
    const { pipeline, send } = await routing({
      policyFor: () => ({ policy: 'slow', limit: '1/hour' }),
      sinks: { slow: () => opened.then(() => ({ sink: 'slow' })), inbox: sink },
    })
    for (let n = 1; n <= 5; n++) send('slow', n)
    const closed = pipeline.close()
    await vi.advanceTimersByTimeAsync(100)
    open()
    await vi.advanceTimersByTimeAsync(0)
    await closed
    expect(pipeline.book('builds').counts).toMatchObject({ delivered: 1, redirected: 4, pending: 0 })
    expect(lines.at(-1)).toEqual({ newest: '5', count: 4, limit: '1/hour', reason: 'more than 1/hour' })
  })

  it('puts what had no turn into the inbox, as one line that says how many', async () => {
    const { lines, sink } = inbox()
    const { pipeline, events, send } = await routing({
      policyFor: () => ({ policy: 'stuck', windows: 'all' }),
      sinks: { inbox: sink },
      plugins: [stuck('stuck')],
    })
    for (let n = 1; n <= 4; n++) send('stuck', n)
    const closed = pipeline.close()
    await vi.advanceTimersByTimeAsync(3_000)
    await closed
    expect(lines).toEqual([{ newest: '4', count: 3, reason: 'the session ended' }])
    expect(steps(events)).toEqual([2, 3, 4].map((n) => `${n} redirected inbox the session ended`))
    // The first one is with its sink, which has been told to give up.
    expect(pipeline.book('builds').counts).toMatchObject({ received: 4, redirected: 3, pending: 1 })
  })

  it.each([
    [
      'the inbox',
      false,
      'done',
      ['1 redirected inbox the session ended', '2 redirected inbox the session ended'],
    ],
    ['another process', true, 'failed', [1, 2].map((n) => `${n} dropped the session ended; another has it`)],
  ] as const)(
    'leaves to %s what waits for the answer of a limit, and hears none that comes too late',
    async (_to, company, end, ended) => {
      const { lines, sink } = inbox()
      const answers: ((taken: boolean) => void)[] = []
      const claims: string[] = []
      const { pipeline, events, send } = await routing({
        policyFor: () => ({ policy: 'fast', limit: '1/hour', windows: 'owner' }),
        sharedLimit: () => ({ written: '1/hour', take: (answer) => void answers.push(answer) }),
        dedup: () => ({
          verdict: 'first',
          done: () => void claims.push('done'),
          failed: () => void claims.push('failed'),
        }),
        hasCompany: () => company,
        sinks: { inbox: sink, fast: () => ({ sink: 'fast' }) },
      })
      for (let n = 1; n <= 2; n++) send('fast', n)
      const closed = pipeline.close()
      await vi.advanceTimersByTimeAsync(3_000)
      await closed
      for (const answer of answers) answer(true)
      expect(steps(events)).toEqual(ended)
      expect(claims).toEqual([end])
      expect(lines.map(({ count }) => count)).toEqual(company ? [] : [2])
      expect(pipeline.book('builds').counts).toMatchObject({ received: 2, delivered: 0, pending: 0 })
    },
  )

  it.each(['stuck', 'channel'])('leaves what had no turn to another process (%s)', async (policy) => {
    const { lines, sink } = inbox()
    const { pipeline, events, send } = await routing({
      policyFor: () => policy,
      sinks: { inbox: sink },
      plugins: [stuck(policy)],
      hasCompany: () => true,
    })
    for (let n = 1; n <= 2; n++) send(policy, n)
    const closed = pipeline.close()
    await vi.advanceTimersByTimeAsync(3_000)
    await closed
    expect(lines).toEqual([])
    expect(steps(events)).toEqual(['2 dropped the session ended; another has it'])
  })

  it('says of everything what became of it, also when the inbox is stuck', async () => {
    const { pipeline, events, send } = await routing({
      policyFor: () => ({ policy: 'fast', limit: '1/hour' }),
      sinks: { fast: () => ({ sink: 'fast' }) },
      plugins: [stuck('inbox')],
    })
    for (let n = 1; n <= 5; n++) send('fast', n)
    const began = Date.now()
    const closed = pipeline.close()
    await vi.advanceTimersByTimeAsync(5_000)
    await closed
    expect(Date.now() - began).toBeLessThanOrEqual(5_000)
    expect(steps(events)).toEqual([
      '1 delivered fast',
      ...[3, 4, 5].map((n) => `${n} dropped the session ended`),
    ])
    expect(balance(pipeline.book('builds'))).toEqual([5, 5])
    // The inbox was handed the second one, and may have it.
    await vi.advanceTimersByTimeAsync(10_000)
    expect(steps(events).at(-1)).toBe('2 dropped more than 1/hour')
    expect(pipeline.book('builds').pending).toBe(0)
  })

  it('waits for the redirection of what its sinks give up', async () => {
    const { lines, sink } = inbox()
    const { pipeline, events, send } = await routing({
      sinks: {
        slow: (_trigger, { signal }) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
        inbox: sink,
      },
    })
    send('slow', 1)
    const closed = pipeline.close()
    await vi.advanceTimersByTimeAsync(3_000)
    await closed
    expect(steps(events)).toEqual(['1 redirected inbox not taken by slow'])
    expect(lines).toEqual([{ newest: '1', reason: 'not taken by slow' }])
  })
})
