import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProjects, files } from '@tapline/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openRules } from '../src/index.ts'
import { type Machine, machine, push, session, until } from './support.ts'

const open = (on: Machine, onSetAside?: (path: string, keptAs: string) => void) =>
  openRules({
    files,
    loopsDir: on.loopsDir,
    projects: createProjects(on.home),
    ...(onSetAside ? { onSetAside } : {}),
  })
const rule = (cwd: string) => ({ condition: 'the build is red', action: 'say so', cwd })
const write = (on: Machine, content: unknown): void =>
  writeFileSync(
    join(on.loopsDir, 'triggers.json'),
    typeof content === 'string' ? content : JSON.stringify(content),
  )

describe('the store', () => {
  it('writes rules in the shape that pi-loops reads', async () => {
    const on = machine()
    const made = await open(on).add({
      condition: '  the build is red ',
      action: '\tsay so\n',
      cwd: on.project('a'),
      createdBy: { sessionId: 'me' },
      model: 'faux/one',
      thinking: 'low',
      timeoutMs: 60_000,
      promoteToChat: true,
    })
    expect(on.state('triggers.json')).toEqual({ version: 1, rules: [made] })
    expect(made).toEqual({
      id: expect.stringMatching(/^dyn-[0-9a-f]{32}$/),
      condition: 'the build is red',
      action: 'say so',
      enabled: true,
      fireOnce: true,
      promoteToChat: true,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d$/),
      cwd: on.project('a'),
      model: 'faux/one',
      thinking: 'low',
      timeoutMs: 60_000,
      createdBy: { sessionId: 'me' },
    })
  })

  it('keeps what it does not know, drops the machine of old rules, and reads what lacks fields', async () => {
    const on = machine()
    const id = `dyn-${'a'.repeat(32)}`
    const old = {
      id,
      condition: 'c',
      action: 'a',
      cwd: on.project('a'),
      host: 'laptop',
      note: { by: 'hand' },
    }
    write(on, { version: 1, rules: [old, { id: 'no rule' }, null, ['x']], extra: true })
    const store = open(on)
    expect(store.list({ all: true })).toEqual([
      {
        id,
        condition: 'c',
        action: 'a',
        cwd: on.project('a'),
        enabled: true,
        fireOnce: true,
        promoteToChat: false,
        createdAt: '',
        createdBy: {},
      },
    ])
    await store.setEnabled(id, false)
    const { host: _host, ...kept } = old
    expect(on.state('triggers.json')).toEqual({
      version: 1,
      rules: [{ ...kept, enabled: false }, { id: 'no rule' }, null, ['x']],
      extra: true,
    })
  })

  it('clears what was when a rule is enabled again, and takes settings away', async () => {
    const on = machine()
    const store = open(on)
    const { id } = await store.add({ ...rule(on.project('a')), model: 'faux/one', timeoutMs: 60_000 })
    const spoilt = (on.state('triggers.json') as { rules: object[] }).rules.map((entry) => ({
      ...entry,
      enabled: false,
      firedAt: '2026-01-01T00:00:00+00:00',
      consecutiveFailures: 5,
      lastCheckFailedAt: '2026-01-01T00:00:00+00:00',
      disabledReason: 'gone',
      cwdMissingSince: '2026-01-01T00:00:00+00:00',
    }))
    write(on, { version: 1, rules: spoilt })
    expect(store.get(id)).toMatchObject({ enabled: false, consecutiveFailures: 5, disabledReason: 'gone' })
    const enabled = await store.setEnabled(id, true)
    for (const gone of [
      'firedAt',
      'consecutiveFailures',
      'lastCheckFailedAt',
      'disabledReason',
      'cwdMissingSince',
    ])
      expect(enabled).not.toHaveProperty(gone)
    expect(await store.set(id, { model: null, thinking: 'high', timeoutMs: null })).toEqual({
      ...enabled,
      model: undefined,
      thinking: 'high',
      timeoutMs: undefined,
    })
    expect(on.state('triggers.json')).not.toMatchObject({ rules: [{ model: expect.anything() }] })
    expect(await store.set('dyn-none', { model: 'faux/one' })).toBeUndefined()
    expect(await store.setEnabled('dyn-none', true)).toBeUndefined()
    expect(await store.remove('dyn-none')).toBeUndefined()
    expect(await store.remove(id)).toMatchObject({ id })
    expect(store.list({ all: true })).toEqual([])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['no condition', { condition: ' ' }, 'must both be non-empty'],
    ['no action', { action: '' }, 'must both be non-empty'],
    ['a fixed time', { condition: 'every hour' }, 'use /cron add'],
    ['a model without provider', { model: 'sonnet' }, 'write provider/model'],
    ['no thinking level', { thinking: 'LOTS!' }, 'no thinking level'],
    ['a timeout of nothing', { timeoutMs: 0 }, 'between one second and 24 hours'],
    ['a timeout of a month', { timeoutMs: 30 * 86_400_000 }, 'between one second and 24 hours'],
    ['a book', { condition: 'x'.repeat(8_001) }, '8000 characters'],
  ])('refuses a rule with %s, in a sentence', async (_what, changes, sentence) => {
    const on = machine()
    const store = open(on)
    await expect(store.add({ ...rule(on.project('a')), ...changes })).rejects.toThrow(sentence)
    expect(readdirSync(on.loopsDir)).toEqual([])
  })

  it('loses nothing when many processes write', async () => {
    const on = machine()
    const stores = Array.from({ length: 4 }, () => open(on))
    await Promise.all(stores.flatMap((store) => [1, 2, 3].map(() => store.add(rule(on.project('a'))))))
    expect(stores[0]?.list({ all: true })).toHaveLength(12)
  })

  it('survives any JSON in the file', async () => {
    const on = machine()
    const store = open(on)
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.array(fc.object()).map((rules) => JSON.stringify({ rules })),
        ),
        async (content) => {
          write(on, content)
          for (const { id, condition, action, cwd } of store.list({ all: true }))
            for (const text of [id, condition, action, cwd]) expect(typeof text).toBe('string')
          expect(typeof (store.problem() ?? '')).toBe('string')
        },
      ),
    )
  })
})

describe('a file that cannot be used', () => {
  it.each(['{"version":1,"rules":[', '[]', '{"version":1}', ''])(
    'is told of and left alone until it is about to be replaced: %j',
    async (content) => {
      const on = machine()
      write(on, content)
      const aside: string[] = []
      const store = open(on, (_path, keptAs) => aside.push(keptAs))
      expect(store.list({ all: true })).toEqual([])
      expect(store.problem()).toContain('triggers.json is not a list of rules in JSON, so no rule is used')
      await expect(store.setEnabled('dyn-x', true)).rejects.toThrow('is not a list of rules')
      expect(readFileSync(join(on.loopsDir, 'triggers.json'), 'utf8')).toBe(content)
      await store.add(rule(on.project('a')))
      expect(store.problem()).toBeUndefined()
      expect(readFileSync(aside[0] as string, 'utf8')).toBe(content)
    },
  )

  it('is said once, and pushes go on to the inbox while it lasts', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a') })
    write(on, 'not json')
    const refused = expect.stringContaining('is not a list of rules in JSON')
    for (let n = 0; n < 20; n++) expect(await one.push(push())).toEqual({ sink: 'rules', refused })
    expect(one.said).toEqual([refused])
    expect(one.reports).toEqual([])
    expect(one.rules.status().persistenceError).toContain('is not a list of rules in JSON')
    write(on, { version: 1, rules: [] })
    expect(one.rules.status().persistenceError).toBeUndefined()
    expect(await one.push(push())).toEqual({ sink: 'rules', dropped: 'no rules' })
  })

  it('is one that is a directory, too', async () => {
    const on = machine()
    mkdirSync(join(on.loopsDir, 'triggers.json'))
    const store = open(on)
    expect(store.problem()).toContain('cannot be read')
    await expect(store.add(rule(on.project('a')))).rejects.toThrow('could not be changed')
  })
})

describe('a reference', () => {
  it('is an exact id, a prefix that is one of the project, or an exact id of another', async () => {
    const on = machine()
    const [a, b] = [on.project('a'), on.project('b')]
    const ids = ['dyn-aaa1', 'dyn-aaa2', 'dyn-bbb1']
    const rules = ids.map((id, n) => ({ id, condition: 'c', action: 'a', cwd: n < 2 ? a : b }))
    write(on, { version: 1, rules })
    const store = open(on)
    const found = (ref: string, cwd = a): unknown => {
      const answer = store.resolve(ref, cwd)
      return 'rule' in answer ? answer.rule.id : answer.error
    }
    expect(found('dyn-aaa1')).toBe('dyn-aaa1')
    expect(found(' dyn-aaa2 ')).toBe('dyn-aaa2')
    expect(found('dyn-bbb1')).toBe('dyn-bbb1')
    expect(found('dyn-bbb')).toBe("no dynamic trigger rule with id 'dyn-bbb'")
    expect(found('dyn-bbb', b)).toBe('dyn-bbb1')
    expect(found('dyn-aaa')).toBe("2 rules begin with 'dyn-aaa': dyn-aaa1, dyn-aaa2.")
    expect(found('1')).toBe("no dynamic trigger rule with id '1'")
    expect(found('')).toContain('Say which rule')
  })
})

it('is seen by a session as soon as another process writes', async () => {
  const on = machine()
  const one = await session({ on, cwd: on.project('a') })
  let changes = 0
  const stop = one.rules.onChange(() => changes++)
  await open(on).add(rule(on.project('a')))
  await until(() => changes > 0)
  expect(one.rules.store.list({ cwd: on.project('a') })).toHaveLength(1)
  stop()
})
