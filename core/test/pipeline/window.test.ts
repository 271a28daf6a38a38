import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { DedupVerdict, Plugin, Trigger } from '../../src/index.ts'
import { gate, routing, steps } from './routing.ts'

const WINDOW_MS = 300_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The plainest window: the first of a key opens it, later ones wait for its end. */
function latest(): (trigger: Trigger) => DedupVerdict {
  const opened = new Map<string, number>()
  return ({ key }) => {
    const at = opened.get(key)
    if (at !== undefined && Date.now() < at + WINDOW_MS) return { verdict: 'later', until: at + WINDOW_MS }
    opened.set(key, Date.now())
    return { verdict: 'first' }
  }
}

it('delivers the first at once and the newest of the later ones when the window ends', async () => {
  const { pipeline, events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }) },
    dedup: latest(),
  })
  for (const traceId of [1, 2, 3, 4]) {
    send('fast', traceId, { key: 'list' })
    await vi.advanceTimersByTimeAsync(1_000)
  }
  send('fast', 5, { key: 'other list' })
  await pipeline.idle()
  expect(steps(events)).toEqual([
    '1 delivered fast',
    '2 pending until the window ends',
    '2 collapsed into 3',
    '3 pending until the window ends',
    '3 collapsed into 4',
    '4 pending until the window ends',
    '5 delivered fast',
  ])
  expect(pipeline.book('builds').counts).toMatchObject({
    received: 5,
    delivered: 2,
    collapsed: 2,
    pending: 1,
  })

  await vi.advanceTimersByTimeAsync(WINDOW_MS - 4_001)
  expect(events).toHaveLength(7)
  await vi.advanceTimersByTimeAsync(1)
  expect(steps(events).slice(7)).toEqual(['4 delivered fast'])
  expect(pipeline.book('builds').counts).toMatchObject({
    received: 5,
    delivered: 3,
    collapsed: 2,
    pending: 0,
  })

  // The trailing one has opened a window of its own.
  send('fast', 6, { key: 'list' })
  expect(events.at(-1)).toMatchObject({ traceId: '6', state: 'pending' })
})

it('ends duplicates, and names what they are duplicates of', async () => {
  const { events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }) },
    dedup: ({ traceId }) => (traceId === '1' ? { verdict: 'first' } : { verdict: 'duplicate', of: '1' }),
  })
  send('fast', 1)
  send('fast', 2)
  expect(steps(events)).toEqual(['1 delivered fast', '2 deduped duplicate of 1'])
})

it('confirms a claim when the trigger is done with, and frees it when nobody took it', async () => {
  const settled: string[] = []
  const { pipeline, send } = await routing({
    sinks: {
      taken: () => ({ sink: 'taken' }),
      refused: () => ({ sink: 'refused', dropped: 'no rules' }),
      silent: () => undefined,
      slow: () => Promise.reject(new Error('no')),
    },
    dedup: ({ traceId }) => ({
      verdict: 'first',
      done: () => void settled.push(`${traceId} done`),
      failed: () => void settled.push(`${traceId} failed`),
    }),
  })
  for (const policy of ['taken', 'refused', 'silent', 'slow', 'log', 'nobody']) send(policy, policy)
  await pipeline.idle()
  expect(settled.toSorted()).toEqual([
    'log done',
    'nobody done',
    'refused done',
    'silent failed',
    'slow failed',
    'taken done',
  ])
})

it('goes on when a claim throws', async () => {
  const fail = (): never => {
    throw new Error('no disk')
  }
  const { pipeline, events, send } = await routing({
    sinks: { taken: () => ({ sink: 'taken' }), silent: () => undefined, inbox: () => ({ sink: 'inbox' }) },
    dedup: () => ({ verdict: 'first', done: fail, failed: fail }),
  })
  for (const [traceId, policy] of ['taken', 'silent', 'log', 'nobody', 'taken'].entries())
    send(policy, traceId)
  await pipeline.idle()
  expect(steps(events)).toEqual([
    '0 delivered taken',
    '1 redirected inbox not taken by silent',
    '2 delivered log',
    '3 dropped no sink',
    '4 delivered taken',
  ])
})

it('delivers the oldest early when more than a thousand keys wait, without asking for a second opinion', async () => {
  let asked = 0
  const window = latest()
  const { pipeline, events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }) },
    // Ends what would otherwise go round for ever.
    dedup: (trigger) => (++asked > 10_000 ? { verdict: 'first' } : window(trigger)),
  })
  for (let n = 0; n <= 1_001; n++) send('fast', `first ${n}`, { key: `key ${n}` })
  for (let n = 0; n <= 1_001; n++) send('fast', `second ${n}`, { key: `key ${n}` })
  await pipeline.idle()
  expect(asked).toBe(2_004)
  expect(steps(events.slice(-4))).toEqual([
    'second 1000 pending until the window ends',
    'second 0 delivered fast',
    'second 1001 pending until the window ends',
    'second 1 delivered fast',
  ])
  expect(pipeline.book('builds').counts).toMatchObject({ received: 2_004, delivered: 1_004, pending: 1_000 })
})

it('delivers what is held when it closes, and what a slow window wants to hold then', async () => {
  const { opened, open } = gate()
  const slow: Plugin = {
    name: 'slow',
    api: 1,
    setup: ({ hooks }) =>
      hooks.dedup.tapPromise({ stage: 'early' }, async ({ trigger: { traceId } }) => {
        if (traceId === 'slow') await opened
        return undefined
      }),
  }
  const { pipeline, events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }) },
    dedup: () => ({ verdict: 'later', until: Date.now() + WINDOW_MS }),
    plugins: [slow],
  })
  send('fast', 'held')
  await vi.advanceTimersByTimeAsync(0)
  send('fast', 'slow')
  const closed = pipeline.close()
  open()
  await vi.advanceTimersByTimeAsync(0)
  await closed
  expect(steps(events)).toEqual([
    'held pending until the window ends',
    'slow delivered fast',
    'held delivered fast',
  ])
  expect(pipeline.book('builds').pending).toBe(0)
  await vi.advanceTimersByTimeAsync(2 * WINDOW_MS)
  expect(events).toHaveLength(3)
})

it('leaves what is held for the whole project to another process that has it open', async () => {
  const { pipeline, events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }), summary: () => ({ sink: 'summary' }) },
    dedup: () => ({ verdict: 'later', until: Date.now() + WINDOW_MS }),
    hasCompany: () => true,
  })
  send('fast', 1)
  send('summary', 2)
  await vi.advanceTimersByTimeAsync(0)
  await pipeline.close()
  expect(steps(events).slice(2)).toEqual([
    '1 dropped the session ended; another has it',
    '2 delivered summary',
  ])
})

it('asks again about what another process has claimed, and takes it over when that fails', async () => {
  const asked: (boolean | undefined)[] = []
  const { pipeline, events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }) },
    dedup: ({ traceId }, { held }) => {
      asked.push(held)
      if (traceId === 'gone' && held) return { verdict: 'first' }
      if (traceId === 'done' && held) return { verdict: 'duplicate', of: 'other' }
      return { verdict: 'later', until: Date.now() + 1_000, of: 'other' }
    },
  })
  send('fast', 'gone')
  send('fast', 'done')
  await pipeline.idle()
  expect(steps(events)).toEqual([
    'gone pending for what becomes of other',
    'done pending for what becomes of other',
  ])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(steps(events).slice(2)).toEqual(['gone delivered fast', 'done deduped duplicate of other'])
  expect(asked).toEqual([undefined, undefined, true, true])

  send('fast', 'open')
  await vi.advanceTimersByTimeAsync(0)
  await pipeline.close()
  expect(steps(events).at(-1)).toBe('open deduped duplicate of other')
  expect(pipeline.book('builds').counts).toMatchObject({ received: 3, delivered: 1, deduped: 2, pending: 0 })
})

it('waits as long as a window that is longer than a timer can be', async () => {
  let asked = 0
  const { events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }) },
    dedup: () => {
      asked++
      return { verdict: 'later', until: Number.MAX_SAFE_INTEGER }
    },
  })
  send('fast', 1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toBe(1)
  expect(steps(events)).toEqual(['1 pending until the window ends'])
})

it('drops what leads nowhere before anything is claimed, and says why', async () => {
  const asked: unknown[] = []
  const { pipeline, events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }) },
    dedup: (_trigger, request) => {
      asked.push([request.policy, request.scope])
      return { verdict: 'drop', reason: 'no rules' }
    },
  })
  send('fast', 1)
  send('log', 2)
  expect(steps(events)).toEqual(['1 dropped no rules', '2 dropped no rules'])
  expect(asked).toEqual([
    ['fast', 'project'],
    ['log', 'process'],
  ])
  expect(pipeline.book('builds').counts).toMatchObject({ received: 2, dropped: 2, pending: 0 })
})

it('keeps apart what waits under one key for different servers or in different windows', async () => {
  const { pipeline, events, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }), summary: () => ({ sink: 'summary' }) },
    dedup: () => ({ verdict: 'later', until: Date.now() + WINDOW_MS }),
  })
  send('fast', 1, { server: 'a', key: 'same' })
  send('fast', 2, { server: 'b', key: 'same' })
  send('summary', 3, { server: 'b', key: 'same' })
  await vi.advanceTimersByTimeAsync(0)
  expect(steps(events)).toEqual([
    '1 pending until the window ends',
    '1 collapsed into 2',
    '2 pending until the window ends',
    '3 pending until the window ends',
  ])
  expect(pipeline.book('a').counts).toMatchObject({ received: 1, collapsed: 1, pending: 0 })
  expect(pipeline.book('b').counts).toMatchObject({ received: 2, collapsed: 0, pending: 2 })
})

it('follows policies that have changed while it waited', async () => {
  let policy = 'fast'
  const { pipeline, events, send } = await routing({
    policyFor: () => policy,
    sinks: { fast: () => ({ sink: 'fast' }) },
    dedup: (_trigger, { held }) => (held ? undefined : { verdict: 'later', until: Date.now() + WINDOW_MS }),
  })
  send('fast', 1)
  policy = 'ignore'
  pipeline.reroute()
  await vi.advanceTimersByTimeAsync(WINDOW_MS)
  expect(steps(events)).toEqual(['1 pending until the window ends', '1 dropped ignored'])
  expect(pipeline.book('builds').pending).toBe(0)
})
