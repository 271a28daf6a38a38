import { expect, it, vi } from 'vitest'
import { HOOK_POLICIES, type Plugin } from '../../src/index.ts'
import { balance, gate, routing, steps } from './routing.ts'

it('delivers to the sink that the policy names, and says so', async () => {
  const { pipeline, events, send } = await routing({ sinks: { summary: () => ({ sink: 'summary' }) } })
  send('summary', 1)
  await pipeline.idle()
  expect(events).toMatchObject([
    {
      traceId: '1',
      server: 'builds',
      method: 'notifications/summary',
      policy: 'summary',
      state: 'delivered',
      sink: 'summary',
    },
  ])
  expect(pipeline.book('builds').counts).toEqual({
    received: 1,
    delivered: 1,
    redirected: 0,
    deduped: 0,
    collapsed: 0,
    dropped: 0,
    pending: 0,
    handled: 0,
  })
  expect(pipeline.book('builds').recent).toEqual(events)
})

it('fulfils log and ignore by itself', async () => {
  const { events, send } = await routing()
  send('log', 1)
  send('ignore', 2)
  expect(steps(events)).toEqual(['1 delivered log', '2 dropped ignored'])
})

it('ends a policy that nobody provides as "no sink", and says so once', async () => {
  const { pipeline, events, missing, send } = await routing()
  for (const traceId of [1, 2, 3]) send('pager', traceId)
  send('pager', 4, { server: 'other' })
  await pipeline.idle()
  expect(steps(events)).toEqual([1, 2, 3, 4].map((traceId) => `${traceId} dropped no sink`))
  expect(missing).toEqual(['pager of builds'])
})

it.each(['inbox', 'no inbox'] as const)('takes what a sink did not take to the inbox (%s)', async (where) => {
  const inbox = where === 'inbox' ? { inbox: () => ({ sink: 'inbox' }) } : {}
  const { pipeline, events, kernel, send } = await routing({
    sinks: {
      silent: () => undefined,
      throwing: () => {
        throw new Error('no')
      },
      slow: () => Promise.reject(new Error('no')),
      ...inbox,
    },
  })
  for (const [traceId, policy] of ['silent', 'throwing', 'slow'].entries()) send(policy, traceId)
  await pipeline.idle()
  const end = where === 'inbox' ? 'redirected inbox not taken by' : 'dropped not taken by'
  expect(steps(events)).toEqual([`0 ${end} silent`, `1 ${end} throwing`, `2 ${end} slow`])
  expect(kernel.reports.map(({ place }) => place.hook)).toEqual(['deliver', 'deliver'])
})

it('drops what the inbox itself did not take', async () => {
  const { events, send } = await routing({ sinks: { inbox: () => undefined, silent: () => undefined } })
  send('inbox', 1)
  send('silent', 2)
  expect(steps(events)).toEqual(['1 dropped not taken by inbox', '2 dropped not taken by silent'])
})

it('drops what the inbox says that it does not take', async () => {
  for (const answer of [{ refused: 'the disk is full' }, { dropped: 'seen before' }]) {
    const { events, send } = await routing({
      sinks: { inbox: () => ({ sink: 'inbox', ...answer }), silent: () => undefined },
      policyFor: (_server, method) =>
        method.endsWith('limited') ? { policy: 'log', limit: '0/hour' } : method.slice(14),
    })
    send('silent', 1)
    send('limited', 2)
    expect(steps(events)).toEqual(['1 dropped not taken by silent', '2 dropped more than 0/hour'])
  }
})

it('throws what is wrong with an event that is handed in, and counts nothing', async () => {
  const { pipeline, send } = await routing()
  const wrong: [string, unknown][] = [
    ['traceId', 7],
    ['key', undefined],
    ['server', ''],
    ['source', null],
    ['method', {}],
    ['summary', undefined],
    ['replacement', 'sometimes'],
    ['receivedAt', 'now'],
    ['receivedAt', Number.NaN],
    ['policy', { policy: 'log' }],
    ['cwd', 1],
    ['content', 1],
    ['attributes', 'none'],
  ]
  for (const [field, value] of wrong)
    expect(() => send('log', 1, { [field]: value })).toThrow(`"${field}" of an event is not what it must be`)
  for (const nothing of [undefined, null, 42, 'event'])
    expect(() => pipeline.admit(nothing as never)).toThrow('an event must be an object')
  expect(pipeline.book('builds').received).toBe(0)
})

it('believes a sink that knows better how its trigger ended', async () => {
  const { events, send } = await routing({
    sinks: {
      rules: () => ({ sink: 'rules', dropped: 'no rules' }),
      summary: () => ({ sink: 'summary', redirected: true }),
    },
  })
  send('rules', 1)
  send('summary', 2)
  expect(steps(events)).toEqual(['1 dropped rules no rules', '2 redirected summary'])
})

it('keeps the order for each server and sink', async () => {
  const taken: string[] = []
  const { pipeline, send } = await routing({
    sinks: {
      // The longer the wait, the earlier it was sent: only waiting in line keeps the order.
      slow: async ({ server, traceId }) => {
        for (let turns = 10 - Number(traceId); turns > 0; turns--)
          await new Promise((resolve) => setImmediate(resolve))
        taken.push(`${server} slow ${traceId}`)
        return { sink: 'slow' }
      },
      fast: ({ server, traceId }) => {
        taken.push(`${server} fast ${traceId}`)
        return { sink: 'fast' }
      },
    },
  })
  for (let n = 0; n < 10; n++) {
    for (const server of ['a', 'b']) {
      send('slow', n, { server })
      send('fast', n, { server })
    }
  }
  expect(taken.filter((line) => line.includes('slow'))).toEqual([])
  await pipeline.idle()
  for (const server of ['a', 'b']) {
    for (const sink of ['slow', 'fast']) {
      const mine = taken.filter((line) => line.startsWith(`${server} ${sink}`))
      expect(mine).toEqual(Array.from({ length: 10 }, (_, n) => `${server} ${sink} ${n}`))
    }
  }
})

it('does not let a slow sink hold up another sink or another server', async () => {
  const { opened, open } = gate()
  const { pipeline, events, send } = await routing({
    sinks: { slow: () => opened.then(() => ({ sink: 'slow' })), fast: () => ({ sink: 'fast' }) },
  })
  send('slow', 1)
  send('slow', 2)
  send('fast', 3)
  send('fast', 4, { server: 'other' })
  expect(steps(events)).toEqual(['3 delivered fast', '4 delivered fast'])
  expect(pipeline.book('builds').pending).toBe(2)
  open()
  await pipeline.idle()
  expect(steps(events).slice(2)).toEqual(['1 delivered slow', '2 delivered slow'])
})

it('gives up a sink that does not answer, and goes on with the next trigger', async () => {
  const { pipeline, events, kernel, send } = await routing({
    sinks: { slow: ({ traceId }) => (traceId === '1' ? new Promise(() => undefined) : { sink: 'slow' }) },
    policies: { deliver: { ...HOOK_POLICIES.deliver, deadlineMs: 10 } },
  })
  send('slow', 1)
  send('slow', 2)
  await pipeline.idle()
  expect(steps(events)).toEqual(['1 dropped not taken by slow', '2 delivered slow'])
  expect(kernel.reports).toMatchObject([{ code: 'TAP_TIMEOUT', place: { plugin: 'sinks', hook: 'deliver' } }])
})

it('does not overflow the stack over 50,000 that wait in line, and refuses more than a line holds', async () => {
  const { opened, open } = gate()
  let last = -1
  let ordered = true
  const { pipeline, events, send } = await routing({
    sinks: {
      slow: ({ traceId }) => (traceId === '0' ? opened.then(() => ({ sink: 'slow' })) : { sink: 'slow' }),
      fast: ({ traceId }) => {
        ordered &&= Number(traceId) === last + 1
        last = Number(traceId)
        return { sink: 'fast' }
      },
    },
    // Only the first of each server is slow: what waits behind it is then handled in one go.
    policyFor: (_server, method) => method.slice(method.lastIndexOf('/') + 1),
  })
  for (let n = 0; n < 50_000; n++) send('fast', n)
  expect(last).toBe(49_999)
  expect(ordered).toBe(true)

  const servers = ['a', 'b', 'c', 'd', 'e']
  for (const server of servers) for (let n = 0; n <= 10_001; n++) send('slow', n, { server })
  for (const server of servers)
    expect(pipeline.book(server).counts).toMatchObject({ received: 10_002, pending: 10_001, dropped: 1 })
  expect(events.at(-1)).toMatchObject({ state: 'dropped', reason: 'more than 10000 waiting' })
  open()
  await pipeline.idle()
  for (const server of servers) {
    expect(pipeline.book(server).counts).toMatchObject({ delivered: 10_001, pending: 0 })
    expect(balance(pipeline.book(server))).toEqual([10_002, 10_002])
  }
})

it('handles in one go what waits behind a slow one', async () => {
  const { opened, open } = gate()
  const first: Plugin = {
    name: 'first',
    api: 1,
    setup: ({ hooks }) =>
      hooks.dedup.tapPromise({}, async ({ trigger: { traceId } }) => {
        if (traceId === '0') await opened
        return { verdict: 'first' }
      }),
  }
  const { pipeline, send } = await routing({ sinks: { fast: () => ({ sink: 'fast' }) }, plugins: [first] })
  for (let n = 0; n < 10_000; n++) send('fast', n)
  expect(pipeline.book('builds').pending).toBe(10_000)
  open()
  await pipeline.idle()
  expect(pipeline.book('builds').counts).toMatchObject({ delivered: 10_000, pending: 0 })
})

it('keeps observers apart from each other and from delivery', async () => {
  const bad: Plugin = {
    name: 'bad',
    api: 1,
    setup({ hooks }) {
      hooks.deliver.observe(() => {
        throw new Error('no')
      })
      hooks.deliver.observe((() => Promise.reject(new Error('no'))) as never)
    },
  }
  const { pipeline, events, kernel, send } = await routing({
    sinks: { fast: () => ({ sink: 'fast' }) },
    plugins: [bad],
  })
  for (let n = 0; n < 20; n++) send('fast', n)
  expect(events).toHaveLength(20)
  expect(pipeline.book('builds').delivered).toBe(20)
  expect(kernel.reports.map(({ code }) => code).toSorted()).toEqual([
    ...Array<string>(3).fill('TAP_FAILED'),
    ...Array<string>(3).fill('TAP_PROMISE'),
  ])
})

it('tells a sink its policy and, when the pipeline closes, to stop', async () => {
  const seen = vi.fn<(policy: string) => void>()
  const { pipeline, events, send } = await routing({
    sinks: {
      slow: (_trigger, { policy, signal }) => {
        seen(policy)
        return new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve(undefined), { once: true }),
        )
      },
    },
  })
  send('slow', 1)
  send('slow', 2)
  await pipeline.close()
  await pipeline.idle()
  expect(seen.mock.calls).toEqual([['slow']])
  expect(steps(events)).toEqual(['2 dropped the session ended', '1 dropped not taken by slow'])
})

it('takes nothing after it has closed', async () => {
  const { pipeline, events, send } = await routing({ sinks: { fast: () => ({ sink: 'fast' }) } })
  void pipeline.close()
  send('fast', 1)
  await pipeline.idle()
  expect(steps(events)).toEqual(['1 dropped the session ended'])
  expect(pipeline.book('builds').counts).toMatchObject({ received: 1, dropped: 1, pending: 0 })
})

it('tells a sink that took too long that the trigger went elsewhere', async () => {
  let late: AbortSignal | undefined
  const plugin: Plugin = {
    name: 'late',
    api: 1,
    setup({ hooks }) {
      hooks.deliver.sink('pager').tapPromise({}, (_trigger, context) => {
        late = context.signal
        return new Promise(() => undefined)
      })
    },
  }
  const { pipeline, events, send } = await routing({
    plugins: [plugin],
    sinks: { inbox: () => ({ sink: 'inbox' }) },
    policies: { deliver: { ...HOOK_POLICIES.deliver, deadlineMs: 20 } },
  })
  send('pager', 1)
  expect(late?.aborted).toBe(false)
  await pipeline.idle()
  expect(steps(events)).toEqual(['1 redirected inbox not taken by pager'])
  expect(late?.aborted).toBe(true)
})
