import { createKernel } from '@tapline/core'
import type { Trigger } from '@tapline/core'
import { testHost, testKernel } from '@tapline/core/testing'
import { expect, it } from 'vitest'
import { hello } from '../src/index.ts'

const trigger: Trigger = {
  kind: 'trigger',
  traceId: '00000000-0000-4000-8000-000000000000',
  source: 'mcp',
  server: 'builds',
  method: 'notifications/build/finished',
  key: 'build 7',
  replacement: 'drop',
  summary: 'notifications/build/finished: build 7 failed',
  receivedAt: 0,
}
const context = { policy: 'hello', signal: new AbortController().signal }

it('takes every event that is routed to it, and says so', async () => {
  const { kernel, reports, dispose } = await testKernel(hello())
  expect(kernel.hasSink('hello')).toBe(true)
  expect(await kernel.hooks.deliver.for('hello').promise(trigger, context)).toEqual({ sink: 'hello' })
  expect(reports).toEqual([])
  await dispose()
})

it('writes one line for it', async () => {
  const lines: string[] = []
  const log = { info: (line: string) => void lines.push(line), warn: () => undefined }
  const kernel = await createKernel({
    plugins: [hello('news of')],
    host: testHost(),
    report: () => undefined,
    log,
  })
  await kernel.hooks.deliver.for('hello').promise(trigger, context)
  expect(lines).toEqual(['news of builds: notifications/build/finished: build 7 failed'])
  await kernel.dispose()
})
