import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gate, machine, push, type Script, session, until } from './support.ts'

const matching: Script = async ({ ids, report }) => {
  await report(...ids)
  return { text: 'the result' }
}

describe('several windows of one project', () => {
  it('check a push once, whichever of them received it', async () => {
    const on = machine()
    const go = gate()
    const script: Script = async ({ report }) => {
      await go.promise
      await report()
    }
    const windows = await Promise.all([1, 2, 3].map(() => session({ on, cwd: on.project('a'), script })))
    await windows[0]?.add()
    const trigger = push()
    const receipts = await Promise.all(windows.map((window) => window.push(trigger)))
    expect(receipts.filter((receipt) => receipt?.dropped === undefined)).toHaveLength(1)
    expect(receipts.filter((receipt) => receipt?.dropped === 'an equal push is being checked')).toHaveLength(
      2,
    )
    go.resolve()
    await until(() => windows.some((window) => window.states().includes('completed')))
    expect(windows.flatMap((window) => window.agents.tasks)).toHaveLength(1)
  })

  it('leave a rule to the session that created it, each its own, of one push', async () => {
    const on = machine()
    const open = ['one', 'two', 'three'].map((sessionId) =>
      session({ on, cwd: on.project('a'), sessionId, script: matching }),
    )
    const [one, two, three] = (await Promise.all(open)) as [
      Awaited<(typeof open)[0]>,
      ...Awaited<(typeof open)[0]>[],
    ]
    const first = await one.add({ createdBy: { sessionId: 'one' }, promoteToChat: true })
    const second = await one.add({ createdBy: { sessionId: 'two' }, promoteToChat: true })
    await three?.push(push())
    await until(() => one.shown.length > 0 && (two?.shown.length ?? 0) > 0)
    expect(one.audit.find(({ state }) => state === 'completed')?.details).toMatchObject({
      matched_rule_ids: [first.id],
    })
    expect(two?.audit.find(({ state }) => state === 'completed')?.details).toMatchObject({
      matched_rule_ids: [second.id],
    })
    expect(three?.agents.tasks).toEqual([])
    await until(() => one.rules.queue().length === 0)
  })

  it('take over the rules of a session that has left', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a'), sessionId: 'one' })
    const two = await session({ on, cwd: on.project('a'), sessionId: 'two' })
    await one.add({ createdBy: { sessionId: 'one' } })
    await one.close()
    await two.push(push())
    await until(() => two.states().includes('completed'))
    expect(two.agents.tasks).toHaveLength(1)
  })

  it('take over what a session that ends was checking, and repeat no action', async () => {
    const on = machine()
    const began = gate()
    const one = await session({
      on,
      cwd: on.project('a'),
      sessionId: 'one',
      script: async ({ ids, report, task }) => {
        if (ids.includes(acted.id)) await report(acted.id)
        began.resolve()
        await new Promise((resolve) => task.signal.addEventListener('abort', resolve))
        return { status: 'aborted', text: '', costUsd: 0 }
      },
    })
    const acted = await one.add({ createdBy: { sessionId: 'one' }, fireOnce: false })
    const waiting = await one.add({ createdBy: { sessionId: 'one' }, fireOnce: false })
    const two = await session({ on, cwd: on.project('a'), sessionId: 'two' })
    await one.push(push())
    await began.promise
    await one.close()
    const [line] = await until(() => (two.inbox.length > 0 ? two.inbox : undefined))
    expect(line?.reason).toContain(`the action of ${acted.id} (say so) may be incomplete and is not repeated`)
    const done = await until(() => two.audit.find(({ state }) => state === 'completed'))
    expect(done.details).toMatchObject({ rule_ids: [waiting.id] })
    expect(one.agents.tasks).toHaveLength(1)
    await until(() => two.rules.queue().length === 0)
    expect(two.inbox).toHaveLength(1)
  })

  it('that ends keeps what waits for the next one', async () => {
    const on = machine()
    const never = await session({ on, cwd: on.project('a'), withoutAgents: true })
    const elsewhere = await session({
      on,
      cwd: on.project('a'),
      sessionId: 'owner',
      script: async ({ task }) => {
        await new Promise((resolve) => task.signal.addEventListener('abort', resolve))
        return { status: 'aborted', text: '', costUsd: 0 }
      },
    })
    const rule = await elsewhere.add({ createdBy: { sessionId: 'owner' } })
    expect(await never.push(push())).toEqual({ sink: 'rules' })
    await until(() => elsewhere.rules.running().length === 1)
    await elsewhere.close()
    await never.close()
    const later = await session({ on, cwd: on.project('a') })
    const done = await until(() => later.audit.find(({ state }) => state === 'completed'))
    expect(done.details).toMatchObject({ rule_ids: [rule.id] })
  })
})

describe('a project', () => {
  it('is the same by way of a link, and in a directory below', async () => {
    const on = machine()
    const real = on.project('a')
    symlinkSync(real, join(on.root, 'link'))
    const below = join(real, 'deep')
    mkdirSync(below)
    const linked = await session({ on, cwd: join(on.root, 'link') })
    const rule = await linked.add()
    expect(rule.cwd).toBe(realpathSync(real))
    const inside = await session({ on, cwd: below })
    expect(inside.rules.store.list({ cwd: below })).toEqual([rule])
    expect(await inside.push(push())).toEqual({ sink: 'rules' })
    await until(() => linked.states().includes('completed') || inside.states().includes('completed'))
  })

  it('has each of its rules checked once, also by windows in nested directories', async () => {
    const on = machine()
    const outer = await session({ on, cwd: on.project('a') })
    const inner = await session({ on, cwd: on.project('a/b') })
    const other = await session({ on, cwd: on.project('a/c') })
    await outer.add()
    const ofOther = await other.add()
    const trigger = push()
    expect(await inner.push({ ...trigger, traceId: 'of-inner' })).toEqual({ sink: 'rules' })
    await until(() => [outer, inner, other].some((window) => window.states().includes('completed')))
    expect(await outer.push({ ...trigger, traceId: 'of-outer' })).toEqual({ sink: 'rules' })
    const done = await until(() =>
      [outer, inner, other]
        .flatMap((window) => window.audit)
        .find(({ state, traceId }) => state === 'completed' && traceId === 'of-outer'),
    )
    expect(done.details).toMatchObject({ rule_ids: [ofOther.id] })
    expect(await other.push({ ...trigger, traceId: 'of-other' })).toMatchObject({
      dropped: 'an equal push is being checked',
    })
    expect([outer, inner, other].flatMap((window) => window.agents.tasks)).toHaveLength(2)
  })

  it.each<[string, (home: string) => string]>([
    ['the root directory', () => '/'],
    ['the home directory', (home) => home],
  ])('at %s holds nothing but itself', async (_what, at) => {
    const on = machine()
    mkdirSync(join(on.home, 'work'))
    const one = await session({ on, cwd: join(on.home, 'work') })
    await one.add({ cwd: at(on.home) })
    expect(one.rules.store.list({ cwd: join(on.home, 'work') })).toEqual([])
    expect(await one.push(push())).toEqual({ sink: 'rules', dropped: 'no rules' })
  })
})

describe('a push that no rule could match', () => {
  it('is dropped before anybody claims it', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a') })
    const nowhere = { verdict: 'drop', reason: 'no rules' }
    expect(await one.ask(push())).toEqual(nowhere)
    expect(await one.ask(push(), 'summary')).toBeUndefined()
    const rule = await one.add()
    expect(await one.ask(push())).toBeUndefined()
    expect(await one.ask(push({ cwd: on.project('b') }))).toEqual(nowhere)
    await one.rules.store.setEnabled(rule.id, false)
    expect(await one.ask(push())).toEqual(nowhere)
    writeFileSync(join(on.loopsDir, 'triggers.json'), 'not json')
    // What was found a moment ago counts for a moment.
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await one.ask(push())).toBeUndefined()
  })

  it('costs next to nothing, as most pushes are of that kind', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a') })
    for (let n = 0; n < 50; n++) await one.add({ cwd: on.project('b') })
    const trigger = push()
    const at = performance.now()
    for (let n = 0; n < 5_000; n++) await one.ask(trigger)
    expect((performance.now() - at) / 5_000).toBeLessThan(0.2)
  })

  it('is one of the project that its source names', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a') })
    await one.add()
    const other = await one.add({ cwd: on.project('b') })
    await one.push(push({ source: 'cron', server: 'cron', method: 'tick', cwd: on.project('b') }))
    const done = await until(() => one.audit.find(({ state }) => state === 'completed'))
    expect(done).toMatchObject({
      cwd: on.project('b'),
      sourceLabel: 'cron',
      details: { rule_ids: [other.id] },
    })
    expect(one.agents.tasks).toMatchObject([{ cwd: on.project('b') }])
  })
})

describe('a host without a project', () => {
  it('stands in for every project that has rules', async () => {
    const on = machine()
    const host = await session({ on, cwd: on.root, kind: 'host', script: matching })
    const rules = [
      await host.add({ cwd: on.project('a'), promoteToChat: true }),
      await host.add({ cwd: on.project('b') }),
      await host.add({ cwd: on.project('b') }),
    ]
    await host.rules.store.setEnabled(rules[2]?.id as string, false)
    const trigger = push()
    expect(await host.push(trigger)).toEqual({ sink: 'rules' })
    await until(() => host.states().filter((state) => state === 'completed').length === 2)
    expect(host.agents.tasks.map(({ cwd }) => cwd).toSorted()).toEqual([on.project('a'), on.project('b')])
    const traces = host.audit.filter(({ state }) => state === 'completed').map(({ traceId }) => traceId)
    expect(traces).toContain(trigger.traceId)
    expect(new Set(traces).size).toBe(2)
  })

  it('leaves rules to a window that is open in their project', async () => {
    const on = machine()
    const host = await session({ on, cwd: on.root, kind: 'host' })
    const window = await session({ on, cwd: on.project('a') })
    await window.add()
    await host.push(push())
    await until(() => window.states().includes('completed'))
    expect(host.agents.tasks).toEqual([])
  })

  it('says that nobody can check where it has no sub-agents', async () => {
    const on = machine()
    const host = await session({ on, cwd: on.root, kind: 'host', withoutAgents: true })
    expect(await host.push(push())).toEqual({ sink: 'rules', dropped: 'no rules' })
    await host.add({ cwd: on.project('a') })
    expect(await host.push(push())).toEqual({ sink: 'rules', dropped: 'no sub-agents here' })
  })
})
