import { createPipeline, type Plugin } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { dedupWindow, WINDOW_MS } from '../src/index.ts'
import { createPlace, trigger } from './place.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A pipeline with the window in it, and the steps that were taken. */
async function piped(
  plugin = dedupWindow(),
  configured: Record<string, unknown> = {},
  policy = 'log',
  ...others: Plugin[]
) {
  const steps: string[] = []
  const watch: Plugin = {
    name: 'watch',
    api: 1,
    setup: ({ hooks }) =>
      hooks.deliver.observe(
        ({ traceId, state, reason }) => void steps.push([traceId, state, reason].filter(Boolean).join(' ')),
      ),
  }
  const { kernel } = await testKernel([plugin, watch, ...others], {
    options: { 'dedup-window': configured },
    host: { paths: createPlace().paths },
  })
  onTestFinished(() => kernel.dispose())
  const pipeline = createPipeline({ kernel, policyFor: () => policy })
  return { steps, pipeline, kernel }
}

it('lets each push count once in five minutes', async () => {
  const { steps, pipeline } = await piped()
  pipeline.admit(trigger('1'))
  pipeline.admit(trigger('2'))
  await vi.advanceTimersByTimeAsync(WINDOW_MS)
  pipeline.admit(trigger('3'))
  expect(steps).toEqual(['1 delivered', '2 deduped duplicate of 1', '3 delivered'])
})

it('lets the latest win: the first at once, the newest of the others when the window ends', async () => {
  const { steps, pipeline } = await piped()
  const latest = { key: 'list', replacement: 'latest_replaces' } as const
  for (const traceId of ['1', '2', '3']) pipeline.admit(trigger(traceId, latest))
  await vi.advanceTimersByTimeAsync(WINDOW_MS + 1)
  expect(steps).toEqual([
    '1 delivered',
    '2 pending until the window ends',
    '2 collapsed into 3',
    '3 pending until the window ends',
    '3 delivered',
  ])
  expect(pipeline.book('builds').pending).toBe(0)
})

it('does not keep an event from being delivered that was lost the first time', async () => {
  const picky: Plugin = {
    name: 'picky',
    api: 1,
    setup: ({ hooks }) =>
      hooks.deliver.sink('picky').tap({}, ({ traceId }) => (traceId === '1' ? undefined : { sink: 'picky' })),
  }
  const { steps, pipeline } = await piped(dedupWindow(), {}, 'picky', picky)
  for (const traceId of ['1', '2', '3']) pipeline.admit(trigger(traceId))
  await pipeline.idle()
  expect(steps).toEqual(['1 dropped not taken by picky', '2 delivered', '3 deduped duplicate of 2'])
})

it('counts as done what nobody can ever take', async () => {
  const { steps, pipeline } = await piped(dedupWindow(), {}, 'nobody')
  for (const traceId of ['1', '2']) pipeline.admit(trigger(traceId))
  await pipeline.idle()
  expect(steps).toEqual(['1 dropped no sink', '2 deduped duplicate of 1'])
})

it('keeps what is shown and what is evaluated apart, and answers what it knows without a turn', async () => {
  const { kernel } = await testKernel(dedupWindow(), { host: { paths: createPlace().paths } })
  const ask = (traceId: string, scope: 'process' | 'project') =>
    kernel.hooks.dedup.promise({ trigger: trigger(traceId), scope })
  expect(await ask('1', 'process')).toMatchObject({ verdict: 'first' })
  expect(await ask('2', 'project')).toMatchObject({ verdict: 'first' })
  const answers: unknown[] = []
  for (const [traceId, scope] of [
    ['3', 'process'],
    ['4', 'project'],
  ] as const)
    kernel.hooks.dedup.callAsync({ trigger: trigger(traceId), scope }, (_error, answer) =>
      answers.push(answer),
    )
  expect(answers).toEqual([
    { verdict: 'duplicate', of: '1' },
    { verdict: 'duplicate', of: '2' },
  ])
  await kernel.dispose()
})

it.each<[string, ReturnType<typeof dedupWindow>, Record<string, unknown>, number]>([
  ['its options', dedupWindow({ windowMs: 1_000 }), { window_ms: 5_000 }, 1_000],
  ['tapline.*', dedupWindow(), { window_ms: 5_000 }, 5_000],
  ['nobody', dedupWindow(), {}, WINDOW_MS],
  ['text', dedupWindow(), { window_ms: '5000' }, WINDOW_MS],
  ['not a number', dedupWindow(), { window_ms: Number.NaN }, WINDOW_MS],
  ['a negative number', dedupWindow(), { window_ms: -1 }, WINDOW_MS],
])('is as long as %s says', async (_who, plugin, configured, length) => {
  const { steps, pipeline } = await piped(plugin, configured)
  pipeline.admit(trigger('1'))
  await vi.advanceTimersByTimeAsync(length - 1)
  pipeline.admit(trigger('2'))
  await vi.advanceTimersByTimeAsync(2)
  pipeline.admit(trigger('3'))
  expect(steps).toEqual(['1 delivered', '2 deduped duplicate of 1', '3 delivered'])
})

it('is off when it has no length', async () => {
  const { steps, pipeline } = await piped(dedupWindow({ windowMs: 0 }))
  for (const traceId of ['1', '2']) pipeline.admit(trigger(traceId))
  pipeline.admit(trigger('3', { replacement: 'latest_replaces' }))
  expect(steps).toEqual(['1 delivered', '2 delivered', '3 delivered'])
})
