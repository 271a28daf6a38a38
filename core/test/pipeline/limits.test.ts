import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as fc from 'fast-check'
import type { Overflow, Plugin, PushRule } from '../../src/index.ts'
import { isLimit } from '../../src/index.ts'
import { balance, gate, routing, steps } from './routing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const limited = (limit: string): { policyFor(): PushRule } => ({
  policyFor: () => ({ policy: 'fast', limit }),
})

describe('a limit', () => {
  it('lets so many through in any period, and tells the inbox how many more there were', async () => {
    const overflows: (Overflow & { reason: string; newest: string })[] = []
    const { pipeline, events, send } = await routing({
      ...limited('2/minute'),
      sinks: {
        fast: () => ({ sink: 'fast' }),
        inbox: ({ traceId }, { overflow, reason }) => {
          if (overflow) overflows.push({ ...overflow, reason: reason ?? '', newest: traceId })
          return { sink: 'inbox' }
        },
      },
    })
    const start = Date.now()
    for (let n = 1; n <= 5; n++) send('fast', n)
    await vi.advanceTimersByTimeAsync(0)
    expect(steps(events)).toEqual([
      '1 delivered fast',
      '2 delivered fast',
      '3 redirected inbox more than 2/minute',
    ])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(steps(events).slice(3)).toEqual([
      '4 redirected inbox more than 2/minute',
      '5 redirected inbox more than 2/minute',
    ])
    const line = { limit: '2/minute', since: start, reason: 'more than 2/minute' }
    expect(overflows).toEqual([
      { ...line, count: 1, newest: '3' },
      { ...line, count: 3, newest: '5' },
    ])
    expect(pipeline.book('builds').counts).toMatchObject({
      received: 5,
      delivered: 2,
      redirected: 3,
      pending: 0,
    })

    await vi.advanceTimersByTimeAsync(58_999)
    send('fast', 6)
    expect(steps(events).at(-1)).toBe('6 redirected inbox more than 2/minute')
    await vi.advanceTimersByTimeAsync(1_000)
    send('fast', 7)
    expect(steps(events).at(-1)).toBe('7 delivered fast')
  })

  it('keeps the books when there is no inbox, and when it refuses', async () => {
    for (const sinks of [{}, { inbox: () => undefined }]) {
      const { pipeline, events, send } = await routing({
        ...limited('1/hour'),
        sinks: { fast: () => ({ sink: 'fast' }), ...sinks },
      })
      for (let n = 1; n <= 3; n++) send('fast', n)
      await vi.advanceTimersByTimeAsync(2_000)
      expect(steps(events)).toEqual([
        '1 delivered fast',
        '2 dropped more than 1/hour',
        '3 dropped more than 1/hour',
      ])
      expect(balance(pipeline.book('builds'))).toEqual([3, 3])
    }
  })

  it('hands on what it has gathered when the session ends', async () => {
    const { opened, open } = gate()
    const counts: number[] = []
    const { pipeline, send } = await routing({
      ...limited('1/hour'),
      sinks: {
        fast: () => ({ sink: 'fast' }),
        slow: () => undefined,
        inbox: (_trigger, { overflow }) => {
          counts.push(overflow?.count ?? 0)
          return { sink: 'inbox' }
        },
      },
    })
    for (let n = 1; n <= 4; n++) send('fast', n)
    open()
    await opened
    await pipeline.close()
    expect(counts).toEqual([1, 3])
    expect(pipeline.book('builds').counts).toMatchObject({ delivered: 1, redirected: 3, pending: 0 })
  })

  it('holds for what reaches the chat or costs tokens even where nobody set one, and not for a source that is no server', async () => {
    const { pipeline, send } = await routing({
      sinks: {
        run: () => ({ sink: 'run' }),
        summary: () => ({ sink: 'summary' }),
        inbox: () => ({ sink: 'inbox' }),
      },
    })
    for (let n = 0; n < 70; n++) send('run', n)
    for (let n = 100; n < 170; n++) send('run', n, { server: 'cron', source: 'cron' })
    for (let n = 200; n < 810; n++) send('summary', n, { server: 'talker' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(pipeline.book('builds').counts).toMatchObject({ delivered: 60, redirected: 10 })
    expect(pipeline.book('cron').counts).toMatchObject({ delivered: 70 })
    expect(pipeline.book('talker').counts).toMatchObject({ delivered: 600, redirected: 10 })
  })

  it('holds for a server also when it is named like a source that has none', async () => {
    const { pipeline, send } = await routing({ sinks: { run: () => ({ sink: 'run' }) } })
    send('run', 'job', { server: 'cron', source: 'cron', policy: 'run' })
    for (let n = 0; n < 70; n++) send('run', n, { server: 'cron' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(pipeline.book('cron').counts).toMatchObject({ delivered: 61, dropped: 10 })
  })

  it('is lifted by none, and does not count duplicates', async () => {
    const { pipeline, send } = await routing({
      policyFor: (_server, method) => ({
        policy: 'run',
        limit: method.endsWith('free') ? 'none' : '1/hour',
      }),
      dedup: ({ key, traceId }) => (key === traceId ? undefined : { verdict: 'duplicate', of: key }),
      sinks: { run: () => ({ sink: 'run' }), inbox: () => ({ sink: 'inbox' }) },
    })
    for (let n = 0; n < 70; n++) send('free', n)
    expect(pipeline.book('builds').counts).toMatchObject({ delivered: 70 })
    for (let n = 0; n < 5; n++) send('bound', n, { server: 'other', key: '0' })
    expect(pipeline.book('other').counts).toMatchObject({ delivered: 1, deduped: 4 })
  })

  it('is each entry’s own, and shared by the methods that one entry is about', async () => {
    const entries: Record<string, PushRule> = {
      one: { policy: 'fast', limit: '1/hour' },
      two: { policy: 'fast', limit: '1/hour' },
    }
    const { pipeline, send } = await routing({
      policyFor: (_server, method) => entries[method.includes('two') ? 'two' : 'one'] as PushRule,
      sinks: { fast: () => ({ sink: 'fast' }) },
    })
    for (const method of ['one', 'one-more', 'two', 'two-more']) send(method, method)
    expect(pipeline.book('builds').counts).toMatchObject({ received: 4, delivered: 2 })
  })

  it('keeps a line of its own beside that of a full queue', async () => {
    let { opened, open } = gate()
    const slow: Plugin = {
      name: 'slow window',
      api: 1,
      setup: ({ hooks }) => hooks.dedup.tapPromise({}, () => opened.then(() => undefined)),
    }
    const counts: Record<string, number[]> = {}
    const { pipeline, send } = await routing({
      policyFor: () => ({ policy: 'fast', limit: '5/hour' }),
      plugins: [slow],
      sinks: {
        fast: () => ({ sink: 'fast' }),
        inbox: (_trigger, { overflow }) => {
          if (overflow) (counts[overflow.limit ?? ''] ??= []).push(overflow.count)
          return { sink: 'inbox' }
        },
      },
    })
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 10_003; n++) send('fast', `${round} ${n}`)
      open()
      await pipeline.idle()
      await vi.advanceTimersByTimeAsync(2_000)
      ;({ opened, open } = gate())
    }
    // Each counts on from where it was, whatever the other does.
    for (const told of Object.values(counts)) expect(told).toEqual(told.toSorted((a, b) => a - b))
    const last = Object.entries(counts).map(([limit, told]) => [limit, told.at(-1)])
    expect(Object.fromEntries(last)).toEqual({ '10000 waiting': 6, '5/hour': 29_998 })
    expect(balance(pipeline.book('builds'))).toEqual([30_009, 30_009])
  })

  it('is a number of events in a period', () => {
    for (const written of ['6/hour', ' 1 / second ', '10/minutes', '3/DAY', 'none', 'None'])
      expect(isLimit(written)).toBe(true)
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^\s*(\d{1,6}\s*\/\s*(second|minute|hour|day)s?|none)\s*$/i.test(text))
        expect(isLimit(text)).toBe(false)
      }),
    )
  })
})
