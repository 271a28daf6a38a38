import { policyFor } from '@tapline/core'
import type { ServerSpec } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { applySettings, mergeSettings, NO_SETTINGS } from '../../src/settings/settings.ts'
import type { SettingsFile } from '../../src/settings/settings.ts'

const merged = (user: SettingsFile, project: SettingsFile = {}) =>
  mergeSettings(mergeSettings(NO_SETTINGS, '/user', user), '/project', project)

const server = (push: ServerSpec['push'] = {}, name = 'hub'): ServerSpec =>
  ({ name, naming: 'original', results: { maxBytes: 10, overflow: 'artifact' }, push }) as never

/** The policy that a method gets of these settings and this entry. */
const policy = (method: string, files: [SettingsFile, SettingsFile?], push: ServerSpec['push'] = {}) =>
  policyFor(applySettings(server(push), merged(...files)).push, method, () => false)

describe('the settings of the user and of a project', () => {
  it('are one, in which the project is heard last', () => {
    const user: SettingsFile = {
      plugins: ['a'],
      disable: ['x'],
      naming: 'mcp',
      apply: 'now',
      results: { max_bytes: 1_000, overflow: 'artifact' },
      options: { one: { a: 1, b: 1 }, two: { c: 1 } },
    }
    const project: SettingsFile = {
      plugins: ['b'],
      disable: ['y'],
      naming: 'server',
      results: { max_bytes: 2_000 },
      options: { one: { b: 2 }, three: { d: 2 } },
    }
    expect(merged(user, project)).toEqual({
      plugins: [
        { name: 'a', from: '/user' },
        { name: 'b', from: '/project' },
      ],
      disable: new Set(['x', 'y']),
      naming: 'server',
      apply: 'now',
      results: { max_bytes: 2_000, overflow: 'artifact' },
      options: { one: { a: 1, b: 2 }, two: { c: 1 }, three: { d: 2 } },
      push: {},
      elicitation: {},
      diagnostics: [],
    })
  })

  it('leave a server as its file has it where they say nothing', () => {
    expect(applySettings(server({ default: 'run' }), NO_SETTINGS)).toEqual(server({ default: 'run' }))
  })

  it('go over what the file says of names and results', () => {
    const spec = applySettings(server(), merged({ naming: 'mcp', results: { max_bytes: 512 } }))
    expect(spec).toMatchObject({ naming: 'mcp', results: { maxBytes: 512, overflow: 'artifact' } })
  })
})

describe('a server', () => {
  const asks = (files: [SettingsFile, SettingsFile?], name: string, somebody = true) =>
    applySettings(server({}, name), merged(...files), somebody).elicitation !== false

  it('may ask the person something, where there is one', () => {
    expect(asks([{}], 'hub')).toBe(true)
    expect(asks([{ elicitation: true }], 'hub')).toBe(true)
    expect(asks([{ elicitation: true }], 'hub', false)).toBe(false)
    expect(asks([{ elicitation: { hub: true } }], 'hub', false)).toBe(false)
  })

  it('may not where the settings say so of it, or of every server and not otherwise of it', () => {
    expect(asks([{ elicitation: false }], 'hub')).toBe(false)
    expect(asks([{ elicitation: { hub: false } }], 'hub')).toBe(false)
    expect(asks([{ elicitation: { 'a-b': false } }], 'a_b')).toBe(false)
    expect(asks([{ elicitation: { hub: false } }], 'other')).toBe(true)
    expect(asks([{ elicitation: { '*': false, hub: true } }], 'hub')).toBe(true)
    expect(asks([{ elicitation: false }, { elicitation: { hub: true } }], 'hub')).toBe(true)
    expect(asks([{ elicitation: { hub: true } }, { elicitation: { hub: false } }], 'hub')).toBe(false)
  })
})

describe('a push policy', () => {
  it('of the server comes before its file, and the file before that of every server', () => {
    const files: [SettingsFile] = [
      { push: { '*': { a: 'ignore', b: 'ignore', c: 'ignore' }, hub: { a: 'run' } } },
    ]
    const push = { a: 'summary', b: 'summary' }
    expect(['a', 'b', 'c', 'd'].map((method) => policy(method, files, push))).toEqual([
      'run',
      'summary',
      'ignore',
      'log',
    ])
  })

  it('of the project comes before that of the user', () => {
    const files: [SettingsFile, SettingsFile] = [
      { push: { hub: { a: 'ignore', b: 'ignore' } } },
      { push: { hub: { a: 'run' } } },
    ]
    expect(['a', 'b'].map((method) => policy(method, files))).toEqual(['run', 'ignore'])
  })

  it('by pattern is heard in the same order', () => {
    const everyServer = { '*': { 'notifications/*': 'ignore' } }
    expect(policy('notifications/a', [{ push: { ...everyServer, hub: { '*/a': 'run' } } }])).toBe('run')
    expect(policy('notifications/a', [{ push: everyServer }], { '*/a': 'summary' })).toBe('summary')
    expect(policy('notifications/b', [{ push: everyServer }], { '*/a': 'summary' })).toBe('ignore')
    const user = { push: { hub: { 'notifications/*': 'ignore' } } }
    expect(policy('notifications/a', [user, { push: { hub: { '*/a': 'run' } } }])).toBe('run')
  })

  it('finds its server by - and _ alike, and no other by *', () => {
    const settings = merged({ push: { 'my-hub': { default: 'run' } } })
    expect(applySettings(server({}, 'my_hub'), settings).push).toEqual({ default: 'run' })
    expect(applySettings(server({}, 'my_hu'), settings).push).toEqual({})
  })
})

describe('what a push table says of the server itself', () => {
  it('goes over what its file says, and is no policy', () => {
    const settings = merged(
      {
        push: {
          '*': { subscribe: ['a'] },
          hub: { channel: true, default: { policy: 'run', limit: '1/day' } },
        },
      },
      { push: { hub: { subscribe: ['db://*'] } } },
    )
    const spec = { ...server({ x: 'log' }), subscribe: ['file:///a'], channel: false }
    expect(applySettings(spec, settings)).toMatchObject({
      push: { x: 'log', default: { policy: 'run', limit: '1/day' } },
      subscribe: ['db://*'],
      channel: true,
    })
    expect(applySettings(server({}, 'other'), settings)).toMatchObject({ push: {}, subscribe: ['a'] })
    expect(applySettings(server({}, 'other'), settings)).not.toHaveProperty('channel')
    const own = { ...server({}, 'other'), subscribe: ['file:///a'] }
    expect(applySettings(own, settings)).toMatchObject({ subscribe: ['file:///a'] })
  })
})
