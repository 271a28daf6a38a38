import { expect, it } from 'vitest'
import type { Notice, Plugin } from '../../src/index.ts'
import { trigger } from '../specs.ts'
import { routing } from './routing.ts'

const mapping = (map: (method: string) => unknown): Plugin => ({
  name: 'mapping',
  api: 1,
  setup: ({ hooks }) =>
    hooks.notify.tap({}, (notice) => (notice.kind === 'raw' ? (map(notice.method) as Notice) : undefined)),
})

it('drops what no plugin maps as undeclared', async () => {
  const { pipeline, events } = await routing()
  pipeline.receive('builds', { method: 'notifications/odd' })
  pipeline.receive('builds', {})
  expect(events).toMatchObject([
    {
      traceId: '',
      server: 'builds',
      method: 'notifications/odd',
      policy: 'drop',
      state: 'dropped',
      reason: 'undeclared',
    },
    { method: '', state: 'dropped', reason: 'undeclared' },
  ])
  expect(pipeline.book('builds').counts).toMatchObject({ received: 2, dropped: 2 })
})

it('counts the protocol’s own notifications apart', async () => {
  const { pipeline, events } = await routing({ plugins: [mapping(() => ({ kind: 'handled' }))] })
  pipeline.receive('builds', { method: 'notifications/message' })
  expect(events).toEqual([])
  expect(pipeline.book('builds').counts).toMatchObject({ received: 0, handled: 1 })
})

it('keeps the error of a drop until the next event', async () => {
  const { pipeline } = await routing({
    plugins: [
      mapping((method) =>
        method === 'good'
          ? trigger({ method: 'notifications/log' })
          : { kind: 'drop', reason: 'no key', error: 'say which' },
      ),
    ],
  })
  const book = pipeline.book('builds')
  pipeline.receive('builds', { method: 'bad' })
  expect(book.lastError).toBe('say which')
  pipeline.receive('builds', { method: 'good' })
  expect(book.lastError).toBeUndefined()
  expect(book.counts).toMatchObject({ received: 2, delivered: 1, dropped: 1 })
})

it.each<[string, unknown]>([
  ['null', null],
  ['a number', 7],
  ['an object of no kind', {}],
  ['an array', []],
  ['half a trigger', { kind: 'trigger' }],
  ['a trigger whose key is a number', { ...trigger(), key: 7 }],
  ['a trigger of another server', trigger({ server: 'other' })],
])('drops a notification whose mapping answers %s', async (_what, answer) => {
  const { pipeline, events } = await routing({ plugins: [mapping(() => answer)] })
  pipeline.receive('builds', { method: 'notifications/log' })
  expect(events).toMatchObject([{ server: 'builds', state: 'dropped' }])
  expect(pipeline.book('builds').counts).toMatchObject({ received: 1, dropped: 1, pending: 0 })
  expect(pipeline.book('other').counts).toMatchObject({ received: 0, pending: 0 })
})

it('drops a notification whose mapping is critical and throws, with its message', async () => {
  const gate: Plugin = {
    name: 'gate',
    api: 1,
    setup: ({ hooks }) =>
      hooks.notify.tap({ critical: true }, () => {
        throw new Error('no')
      }),
  }
  const { pipeline, events } = await routing({ plugins: [gate] })
  pipeline.receive('builds', { method: 'notifications/log' })
  expect(events).toMatchObject([{ state: 'dropped', reason: 'mapping failed' }])
  expect(pipeline.book('builds').lastError).toContain('Plugin "gate" failed at hook "notify"')
})

it('shows a method that a server invented without what could steer a terminal, and bounded', async () => {
  const { pipeline, events } = await routing()
  pipeline.receive('builds', { method: `evil\u001B[2J\u202E\n\u0007${'x'.repeat(100_000)}` })
  const [event] = events
  // oxlint-disable-next-line no-control-regex -- what must not be there
  expect(event?.method).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202E]/)
  expect(event?.summary).toBe(event?.method)
  expect(event?.method.length).toBeLessThanOrEqual(200)
  expect(pipeline.book('builds').recent).toEqual(events)
})

it('remembers the last hundred events of a server', async () => {
  const { pipeline, send } = await routing()
  for (let n = 0; n < 250; n++) send('log', n)
  const { recent } = pipeline.book('builds')
  expect(recent.map(({ traceId }) => Number(traceId))).toEqual(Array.from({ length: 100 }, (_, n) => 150 + n))
})

it('asks for the policy of a method once, also of a server that invents methods', async () => {
  const asked: string[] = []
  const { pipeline, send } = await routing({
    policyFor: (_server, method) => {
      asked.push(method)
      return 'log'
    },
  })
  for (let n = 0; n < 10; n++) send('same', n)
  expect(asked).toEqual(['notifications/same'])
  for (let n = 0; n < 1_000; n++) send(`method-${n}`, n)
  expect(pipeline.book('builds').delivered).toBe(1_010)
})
