import { expect, it } from 'vitest'
import { createPipeline, type Plugin } from '../../src/index.ts'
import { testKernel } from '../../src/testing/index.ts'
import { trigger } from '../specs.ts'

it('claims and delivers nothing when it only watches, and still accounts for everything', async () => {
  const touched: string[] = []
  const seen: string[] = []
  const { kernel } = await testKernel({
    name: 'sinks',
    api: 1,
    setup({ hooks }) {
      hooks.dedup.tap({}, () => void touched.push('dedup'))
      for (const sink of ['summary', 'inbox']) hooks.deliver.sink(sink).tap({}, () => void touched.push(sink))
      hooks.deliver.observe(({ policy, state, sink }) => void seen.push(`${policy} ${state} ${sink}`))
    },
  } satisfies Plugin)
  const pipeline = createPipeline({ kernel, policyFor: (_server, method) => method, watchOnly: true })
  for (const method of ['summary', 'inbox', 'log', 'nobody', 'ignore']) pipeline.admit(trigger({ method }))
  expect(touched).toEqual([])
  expect(seen).toEqual([
    'summary delivered watch',
    'inbox delivered watch',
    'log delivered watch',
    'nobody delivered watch',
    'ignore dropped undefined',
  ])
  expect(pipeline.book('builds').counts).toMatchObject({ received: 5, delivered: 4, dropped: 1, pending: 0 })
})
