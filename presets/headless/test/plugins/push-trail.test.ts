import type { AuditRow, TriggerEvent } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pushTrail } from '../../src/plugins/push-trail.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

async function trail() {
  const rows: AuditRow[] = []
  const audit = (row: AuditRow) => void rows.push(row)
  const server = (name: string) => (name === 'web' ? ({} as never) : undefined)
  const { kernel } = await testKernel(pushTrail(), { host: { audit, server } })
  const say = (state: TriggerEvent['state'], more: Partial<TriggerEvent> = {}) =>
    kernel.hooks.observe.callAsync(
      {
        ts: 1,
        traceId: 't',
        server: 'web',
        method: 'notifications/x',
        key: 'k',
        policy: 'pager',
        summary: 'something happened',
        state,
        ...more,
      },
      () => undefined,
    )
  return { rows, say }
}

it('has a row for what was shown, and for what went elsewhere or nowhere', async () => {
  const { rows, say } = await trail()
  say('delivered', { sink: 'summary' })
  say('delivered', { sink: 'run', server: 'cron' })
  say('redirected', { sink: 'inbox', reason: 'not taken by pager' })
  say('dropped', { reason: 'the session ended' })
  say('dropped', { reason: 'no dedup key', traceId: '' })
  say('deduped', { reason: 'duplicate of t0' })
  say('collapsed', { reason: 'into t9' })
  expect(rows.map(({ type, state, details }) => [type, state, details?.reason ?? details?.delivery])).toEqual(
    [
      ['trigger_promotion', 'promoted', 'inject_summary'],
      ['trigger_promotion', 'promoted', 'inject_and_run'],
      ['trigger_promotion', 'redirected', 'not taken by pager'],
      ['trigger', 'dropped', 'the session ended'],
      ['trigger', 'dropped', 'no dedup key'],
      ['trigger', 'deduped', 'duplicate of t0'],
      ['trigger', 'collapsed', 'into t9'],
    ],
  )
  expect(rows[0]).toEqual({
    type: 'trigger_promotion',
    state: 'promoted',
    traceId: 't',
    cwd: '/nowhere',
    sourceLabel: 'mcp:web',
    eventLabel: 'notifications/x',
    summary: 'something happened',
    details: { idempotency_key: 'k', policy: 'pager', to: 'chat', delivery: 'inject_summary' },
  })
  expect(rows[1]?.sourceLabel).toBe('cron')
})

it('has none for what is as it should be, or writes its own', async () => {
  const { rows, say } = await trail()
  say('pending', { reason: 'until the window ends' })
  say('delivered', { sink: 'log' })
  say('delivered', { sink: 'rules' })
  say('dropped', { reason: 'ignored' })
  say('dropped', { reason: 'no rules' })
  expect(rows).toEqual([])
})

it('is not flooded: it counts what it leaves out, for each server', async () => {
  const { rows, say } = await trail()
  for (let n = 0; n < 5_000; n++) say('redirected', { sink: 'inbox', reason: 'more than 6/hour' })
  say('dropped', { server: 'other', reason: 'no sink' })
  expect(rows).toHaveLength(31)
  vi.advanceTimersByTime(60_000)
  say('dropped', { reason: 'no sink' })
  say('dropped', { reason: 'no sink' })
  expect(rows).toHaveLength(33)
  expect(rows.at(-2)?.details).toMatchObject({ left_out: 4_970 })
  expect(rows.at(-1)?.details).not.toHaveProperty('left_out')
})

it('is nothing where nobody keeps a trail', async () => {
  const { kernel } = await testKernel(pushTrail())
  expect(kernel.hooks.observe.taps).toEqual([])
})
