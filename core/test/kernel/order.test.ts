import { expect, it } from 'vitest'
import type { Notice, Plugin, Stage } from '../../src/index.ts'
import { testKernel } from '../../src/testing/index.ts'
import { connectRequest, rawNotification } from '../specs.ts'

/** Says its name whenever the `notify` hook comes by. */
const speaker = (name: string, said: string[], ...stages: readonly (Stage | undefined)[]): Plugin => ({
  name,
  api: 1,
  setup({ hooks }) {
    for (const stage of stages) {
      hooks.notify.tap(stage ? { stage } : {}, () => void said.push(`${name} ${stage ?? 'normal'}`))
    }
  },
})

it('taps in the order of stages, and within one stage in the order of registration', async () => {
  const said: string[] = []
  const { kernel } = await testKernel([
    speaker('one', said, 'host', 'late', undefined),
    speaker('two', said, 'normal', 'auth', 'early', 'host'),
    speaker('three', said, 'late', 'early', 'auth'),
  ])
  kernel.hooks.notify.call(rawNotification())
  expect(said).toEqual([
    'two early',
    'three early',
    'two auth',
    'three auth',
    'one normal',
    'two normal',
    'one late',
    'three late',
    'one host',
    'two host',
  ])
})

it('hands each answer of a waterfall to the next tap, and keeps the last when a tap is silent', async () => {
  const seen: Notice[] = []
  const { kernel } = await testKernel([
    {
      name: 'drops',
      api: 1,
      setup: ({ hooks }) => hooks.notify.tap({}, () => ({ kind: 'drop', reason: 'first' })),
    },
    { name: 'looks', api: 1, setup: ({ hooks }) => hooks.notify.tap({}, (notice) => void seen.push(notice)) },
  ] satisfies Plugin[])
  expect(kernel.hooks.notify.call(rawNotification())).toEqual({ kind: 'drop', reason: 'first' })
  expect(seen).toEqual([{ kind: 'drop', reason: 'first' }])
})

it('lets early taps of connect change the request and stops at the first transport', async () => {
  const asked: string[] = []
  const transport = {
    start: async () => undefined,
    send: async () => undefined,
    close: async () => undefined,
  }
  const claims = (name: string): Plugin => ({
    name,
    api: 1,
    setup({ hooks }) {
      hooks.connect.tap({}, ({ headers }) => {
        asked.push(`${name} sees ${headers.authorization}`)
        return name === 'silent' ? undefined : transport
      })
    },
  })
  const credentials: Plugin = {
    name: 'credentials',
    api: 1,
    setup: ({ hooks }) =>
      hooks.connect.tapPromise(
        { stage: 'auth' },
        async ({ headers }) => void (headers.authorization = 'Bearer x'),
      ),
  }
  const { kernel } = await testKernel([claims('silent'), claims('first'), claims('second'), credentials])
  expect(await kernel.hooks.connect.promise(connectRequest())).toBe(transport)
  expect(asked).toEqual(['silent sees Bearer x', 'first sees Bearer x'])
})

it('knows a sink from the moment that something taps it, and not before', async () => {
  const { kernel } = await testKernel({
    name: 'half',
    api: 1,
    setup({ hooks }) {
      hooks.deliver.sink('looked at')
      hooks.deliver.sink('tapped').tap({}, () => ({ sink: 'tapped' }))
    },
  } satisfies Plugin)
  expect(kernel.hasSink('tapped')).toBe(true)
  expect(kernel.hasSink('looked at')).toBe(false)
  expect(kernel.hasSink('never heard of')).toBe(false)
})

it('gives each plugin its own options, and names the plugins that run', async () => {
  const got: unknown[] = []
  const plugin = (name: string): Plugin => ({
    name,
    api: 1,
    setup: (_context, options) => void got.push(options),
  })
  const { kernel } = await testKernel([plugin('a'), plugin('b')], { options: { b: { limit: 3 } } })
  expect(got).toEqual([{}, { limit: 3 }])
  expect(kernel.plugins).toEqual(['a', 'b'])
})

it.each(['toString', 'sometime', ''])('refuses the stage %o', async (stage) => {
  const { reports } = await testKernel({
    name: 'lost',
    api: 1,
    setup: ({ hooks }) => hooks.notify.tap({ stage: stage as Stage }, () => undefined),
  } satisfies Plugin)
  expect(reports).toMatchObject([{ code: 'PLUGIN_SETUP', place: { plugin: 'lost' } }])
  expect(reports[0]?.message).toContain('unknown stage')
})
