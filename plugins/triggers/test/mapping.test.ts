import { createKernel } from '@tapline/core'
import { testHost } from '@tapline/core/testing'
import { describe, expect, it } from 'vitest'
import { isToolsListChanged, triggers } from '../src/index.ts'
import { mapNotification } from '../src/mapping.ts'
import { custom, raw, triggerOf } from './raw.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('the mapping table', () => {
  const updated = 'notifications/resources/updated'
  it.each<[string, unknown, string, string, string]>([
    [
      'notifications/tools/list_changed',
      {},
      'mcp:builds:tools',
      'latest_replaces',
      'notifications/tools/list_changed',
    ],
    [
      'notifications/tools/listChanged',
      undefined,
      'mcp:builds:tools',
      'latest_replaces',
      'notifications/tools/listChanged',
    ],
    [
      'notifications/resources/list_changed',
      null,
      'mcp:builds:resources',
      'latest_replaces',
      'notifications/resources/list_changed',
    ],
    [
      'notifications/resources/listChanged',
      [],
      'mcp:builds:resources',
      'latest_replaces',
      'notifications/resources/listChanged',
    ],
    [
      'notifications/prompts/list_changed',
      { x: 1 },
      'mcp:builds:prompts',
      'latest_replaces',
      'notifications/prompts/list_changed',
    ],
    [
      'notifications/prompts/listChanged',
      {},
      'mcp:builds:prompts',
      'latest_replaces',
      'notifications/prompts/listChanged',
    ],
    [updated, { uri: 'a' }, 'mcp:builds:resources:a', 'latest_replaces', `${updated} uri=a`],
    [
      updated,
      { uri: 'file:///x y' },
      'mcp:builds:resources:file%3A%2F%2F%2Fx%20y',
      'latest_replaces',
      `${updated} uri=file:///x y`,
    ],
    [updated, { uri: 7 }, 'mcp:builds:resources:unknown', 'latest_replaces', updated],
    [updated, undefined, 'mcp:builds:resources:unknown', 'latest_replaces', updated],
    ['build/done', custom('7'), 'mcp:builds:custom:build%2Fdone:7', 'drop', 'build/done'],
    ['build/done', custom('7', 'green'), 'mcp:builds:custom:build%2Fdone:7', 'drop', 'build/done green'],
    ['build/done', custom('7', 42), 'mcp:builds:custom:build%2Fdone:7', 'drop', 'build/done'],
    ['build/done', custom('7', ' \n '), 'mcp:builds:custom:build%2Fdone:7', 'drop', 'build/done'],
  ])('maps %s with %j', (method, params, key, replacement, summary) => {
    expect(triggerOf(method, params)).toEqual({
      kind: 'trigger',
      traceId: expect.stringMatching(UUID) as string,
      source: 'mcp',
      server: 'builds',
      method,
      key,
      replacement,
      summary,
      receivedAt: 1_700_000_000_000,
    })
  })

  it.each([
    'notifications/message',
    'notifications/progress',
    'notifications/cancelled',
    'notifications/initialized',
    'notifications/roots/list_changed',
    'notifications/elicitation/complete',
    'notifications/tasks/status',
    'notifications/tasks',
    'notifications/subscriptions/acknowledged',
  ])('handles %s, even when it claims a key', (method) => {
    expect(mapNotification(raw(method, custom('7')))).toEqual({ kind: 'handled' })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no meta', {}],
    ['a meta that is null', { _meta: null }],
    ['a meta that is text', { _meta: 'pi_dedup_key' }],
    ['a key that is empty', custom('')],
    ['a key that is a number', custom(7)],
    ['a key in the wrong place', { pi_dedup_key: '7' }],
    ['a key of the old name', { _meta: { pie_dedup_key: '7' } }],
    ['params that are a list', [custom('7')]],
  ])('drops a custom notification with %s, and says what is missing', (_what, params) => {
    expect(mapNotification(raw('build/done', params))).toEqual({
      kind: 'drop',
      reason: 'no dedup key',
      error: 'dropped custom notification "build/done": missing `_meta.pi_dedup_key`',
    })
  })

  it('does not take a misspelt list change for one', () => {
    for (const method of [
      'notifications/tools/List_changed',
      'notifications/tool/list_changed',
      'tools/list_changed',
      'constructor',
    ]) {
      expect(mapNotification(raw(method))).toMatchObject({ kind: 'drop' })
    }
  })

  it('gives each event a trace id of its own', () => {
    const ids = Array.from({ length: 1_000 }, () => triggerOf('notifications/tools/list_changed').traceId)
    expect(new Set(ids).size).toBe(1_000)
    for (const id of ids) expect(id).toMatch(UUID)
  })
})

it.each<[string | undefined, boolean]>([
  ['notifications/tools/list_changed', true],
  ['notifications/tools/listChanged', true],
  ['notifications/prompts/list_changed', false],
  ['notifications/tools', false],
  [undefined, false],
])('knows that %s says whether the tool list changed: %s', (method, changed) => {
  expect(isToolsListChanged(method)).toBe(changed)
})

it('is a plugin: it maps what is raw and leaves alone what another plugin mapped', async () => {
  const kernel = await createKernel({
    plugins: [triggers()],
    host: testHost(),
    report: (error) => expect.unreachable(error.message),
  })
  expect(kernel.hooks.notify.call(raw('build/done', custom('7')))).toMatchObject({ kind: 'trigger' })
  const mapped = { kind: 'drop', reason: 'mine' } as const
  expect(kernel.hooks.notify.call(mapped)).toBe(mapped)
})
