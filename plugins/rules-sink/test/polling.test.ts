import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../src/index.ts'
import { backoffMs, isBackedOff } from '../src/polling/backoff.ts'
import { stamp } from '../src/stamps.ts'
import { gate, type Machine, machine, push, type Script, session, until } from './support.ts'

const SOON = { timing: { tickMs: 20 } } as const
const MINUTE_MS = 60_000

/** Lets some ticks pass in which nothing must happen. */
const someTicks = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 200))

/** Changes a rule behind everybody's back. */
function rewrite(on: Machine, id: string, changes: Partial<Rule>): void {
  const { rules } = on.state('triggers.json') as { rules: Rule[] }
  const changed = rules.map((rule) => (rule.id === id ? { ...rule, ...changes } : rule))
  writeFileSync(join(on.loopsDir, 'triggers.json'), JSON.stringify({ version: 1, rules: changed }))
}

describe('a periodic check', () => {
  it('is made once an interval for a project, whatever windows are open', async () => {
    const on = machine()
    const off = await session({ on, cwd: on.project('a'), withoutAgents: true })
    const rules = [await off.add(), await off.add()]
    await off.close()
    const windows = await Promise.all([1, 2, 3].map(() => session({ on, cwd: on.project('a'), ...SOON })))
    await until(() => windows.some((window) => window.states().includes('completed')))
    await someTicks()
    const tasks = windows.flatMap((window) => window.agents.tasks)
    expect(tasks).toHaveLength(1)
    expect(tasks[0]?.cwd).toBe(on.project('a'))
    for (const text of [
      '"source_kind": "local"',
      '"source_label": "local:dynamic"',
      '"event_label": "dynamic periodic check"',
      `with 2 enabled rule(s); cwd: ${on.project('a')}`,
      'look at files',
      ...rules.map(({ id }) => id),
    ])
      expect(tasks[0]?.prompt).toContain(text)
    expect(Object.keys(on.state('polls.json') as object)).toEqual([on.project('a')])
    for (const window of windows)
      expect(Date.now() - (window.rules.status().lastCheckAt ?? 0)).toBeLessThan(MINUTE_MS)
  })

  it('is each session’s own for the rules that it created', async () => {
    const on = machine()
    const [one, two] = await Promise.all(
      ['one', 'two'].map((sessionId) => session({ on, cwd: on.project('a'), sessionId, ...SOON })),
    )
    const first = await one?.add({ createdBy: { sessionId: 'one' } })
    const second = await one?.add({ createdBy: { sessionId: 'two' } })
    await until(() => one?.agents.tasks.length === 1 && two?.agents.tasks.length === 1)
    expect(one?.agents.tasks[0]?.prompt).toContain(first?.id)
    expect(one?.agents.tasks[0]?.prompt).not.toContain(second?.id)
    expect(Object.keys(on.state('polls.json') as object).toSorted()).toEqual([
      `${on.project('a')}#one`,
      `${on.project('a')}#two`,
    ])
  })

  it('is made again after the interval, but never while one still runs', async () => {
    const on = machine()
    const go = gate()
    const script: Script = async ({ report }) => {
      await go.promise
      await report()
    }
    const one = await session({
      on,
      cwd: on.project('a'),
      script,
      options: { poll_interval_secs: 1 },
      ...SOON,
    })
    await one.add()
    await until(() => one.agents.tasks.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 1_300))
    expect(one.agents.tasks).toHaveLength(1)
    go.resolve()
    await until(() => one.agents.tasks.length === 2)
  })

  it('is dropped while every slot is in use, says so once, and is made when one is free', async () => {
    const on = machine()
    const go = gate()
    const script: Script = async ({ report, turn }) => {
      if (turn === 0) await go.promise
      await report()
    }
    const one = await session({
      on,
      cwd: on.project('a'),
      script,
      options: { max_concurrent_runs: 1 },
      timing: { tickMs: 20, watchMs: 20 },
    })
    await one.add()
    await until(() => one.rules.running().length === 1)
    await one.add({ cwd: on.project('a/b') })
    await until(() => one.states().includes('deferred'))
    await someTicks()
    expect(one.audit.filter(({ state }) => state === 'deferred')).toMatchObject([
      { cwd: on.project('a/b'), details: { reason: '1 sub-agent(s) already in flight (max 1)' } },
    ])
    go.resolve()
    await until(() => one.agents.tasks.some(({ cwd }) => cwd === on.project('a/b')))
  })

  it('that fails is not repeated for the event’s sake, and its rules are not disarmed', async () => {
    const on = machine()
    const script: Script = async () => ({ status: 'failed', error: 'no' })
    const one = await session({ on, cwd: on.project('a'), script, ...SOON })
    const rule = await one.add()
    await until(() => one.rules.store.get(rule.id)?.consecutiveFailures === 1)
    await someTicks()
    expect(one.agents.tasks).toHaveLength(1)
    expect(one.inbox).toEqual([])
    expect(one.rules.store.get(rule.id)).toMatchObject({ enabled: true })
    await until(() => one.rules.queue().length === 0)
  })

  it('whose process was killed is not taken over: the next one makes up for it', async () => {
    const on = machine()
    const off = await session({ on, cwd: on.project('a'), withoutAgents: true })
    const rule = await off.add()
    const owner = { pid: 2 ** 22 + 1, instance: 'gone', until: 0 }
    const parts = { [rule.id]: { state: 'running', attempts: 1, owner } }
    const item = { id: 'i', kind: 'check', trigger: push({ traceId: 'gone' }), cwd: on.project('a'), parts }
    writeFileSync(join(on.loopsDir, 'trigger-queue.json'), JSON.stringify({ version: 1, items: [item] }))
    await off.close()
    const one = await session({ on, cwd: on.project('a') })
    const row = await until(() => one.audit.find(({ traceId }) => traceId === 'gone'))
    expect(row).toMatchObject({
      state: 'dropped',
      details: { reason: 'the process that made this check ended' },
    })
    expect(one.agents.tasks).toEqual([])
  })
})

describe('polls.json', () => {
  it('forgets what is older than a day, and nothing in the future holds a check up', async () => {
    const on = machine()
    const now = Date.now()
    const stamps = {
      [on.project('a')]: now + 3_600_000,
      '/old': now - 25 * 3_600_000,
      '/recent': now - 3_600_000,
      '/text': 'yesterday',
    }
    writeFileSync(join(on.loopsDir, 'polls.json'), JSON.stringify(stamps))
    const one = await session({ on, cwd: on.project('a'), ...SOON })
    expect(one.rules.status().lastCheckAt).toBeUndefined()
    await one.add()
    await until(() => one.agents.tasks.length === 1)
    expect(on.state('polls.json')).toEqual({
      [on.project('a')]: expect.any(Number),
      '/recent': stamps['/recent'],
    })
  })

  it('that cannot be used means no periodic checks, which is said', async () => {
    const on = machine()
    mkdirSync(join(on.loopsDir, 'polls.json'))
    const one = await session({ on, cwd: on.project('a'), ...SOON })
    await one.add()
    const said = await until(() => one.rules.status().persistenceError)
    expect(said).toContain('polls.json cannot be used, so no periodic check is made')
    expect(one.agents.tasks).toEqual([])
    await one.push(push())
    await until(() => one.states().includes('completed'))
  })
})

describe('back-off', () => {
  it('begins with the third failure at five minutes and doubles to six hours', () => {
    expect([0, 1, 2, 3, 4, 5, 9, 10, 1_000].map((failures) => backoffMs(failures) / MINUTE_MS)).toEqual([
      0, 0, 0, 5, 10, 20, 320, 360, 360,
    ])
  })

  it('does not count a failure that lies in the future', () => {
    const at = Date.now()
    const rule = { consecutiveFailures: 9, lastCheckFailedAt: stamp(at + 3_600_000) } as Rule
    expect(isBackedOff(rule, at)).toBe(false)
    expect(isBackedOff({ ...rule, lastCheckFailedAt: stamp(at - 1_000) }, at)).toBe(true)
    expect(isBackedOff({ ...rule, lastCheckFailedAt: 'yesterday' }, at)).toBe(false)
  })

  it('holds up periodic checks of the rule that fails, of no other, and no push', async () => {
    const on = machine()
    const asked: (readonly string[])[] = []
    const script: Script = async ({ ids, report }) => {
      asked.push(ids)
      await report()
    }
    const off = await session({ on, cwd: on.project('a'), withoutAgents: true })
    const failing = await off.add()
    const sound = await off.add()
    const failed = { consecutiveFailures: 3, lastCheckFailedAt: stamp(Date.now() - 4 * MINUTE_MS) }
    rewrite(on, failing.id, failed)
    await off.close()
    const one = await session({ on, cwd: on.project('a'), script, ...SOON })
    await until(() => asked.length === 1)
    await someTicks()
    expect(asked).toEqual([[sound.id]])
    await one.push(push())
    await until(() => asked.length === 3)
    expect(asked.slice(1).flat().toSorted()).toEqual([failing.id, sound.id].toSorted())
    await until(() => one.rules.store.get(failing.id)?.consecutiveFailures === undefined)
  })

  it('ends with its time, goes on with the next failure, and is in the audit trail', async () => {
    const on = machine()
    const off = await session({ on, cwd: on.project('a'), withoutAgents: true })
    const rule = await off.add()
    rewrite(on, rule.id, { consecutiveFailures: 3, lastCheckFailedAt: stamp(Date.now() - 6 * MINUTE_MS) })
    await off.close()
    const script: Script = async () => ({ status: 'timeout' })
    const one = await session({ on, cwd: on.project('a'), script, ...SOON })
    const row = await until(() => one.audit.find(({ state }) => state === 'backoff'))
    expect(row.details).toMatchObject({ rule_ids: [rule.id], consecutive_failures: 4 })
  })
})

describe('a project whose directory is missing', () => {
  it('is waited for, since its disk may be mounted late', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a'), ...SOON })
    const rule = await one.add({ cwd: on.project('a/late') })
    await until(() => one.agents.tasks.length === 1)
    rmSync(on.project('a/late'), { recursive: true })
    await until(() => one.rules.store.get(rule.id)?.cwdMissingSince !== undefined)
    await someTicks()
    expect(one.rules.store.get(rule.id)).toMatchObject({ enabled: true })
    on.project('a/late')
    await until(() => one.rules.store.get(rule.id)?.cwdMissingSince === undefined)
  })

  it('has its rules disabled after half an hour, with the reason', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a'), ...SOON })
    const rule = await one.add({ cwd: join(on.project('a'), 'gone') })
    await until(() => one.rules.store.get(rule.id)?.cwdMissingSince !== undefined)
    expect(one.agents.tasks).toEqual([])
    rewrite(on, rule.id, { cwdMissingSince: stamp(Date.now() - 31 * MINUTE_MS) })
    const disabled = await until(() => {
      const now = one.rules.store.get(rule.id)
      return now?.enabled === false ? now : undefined
    })
    expect(disabled.disabledReason).toMatch(/its directory .*\/gone has been missing since/)
    await until(() => one.audit.some(({ state }) => state === 'disabled'))
    expect(await one.rules.runNow(rule.id)).toMatchObject({
      refused: expect.stringContaining('has been missing since'),
    })
  })

  it('lets no push be lost that came for its rules', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a') })
    await one.add({ cwd: join(on.project('a'), 'gone') })
    await one.push(push())
    const [line] = await until(() => (one.inbox.length > 0 ? one.inbox : undefined))
    expect(line?.reason).toMatch(/not checked: .*\/gone, the directory of rule dyn-\w+, is missing/)
    expect(one.agents.tasks).toEqual([])
  })
})
