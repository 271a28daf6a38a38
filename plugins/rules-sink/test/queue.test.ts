import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Files, files as realFiles } from '@tapline/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { enter, MOST_WAITING } from '../src/queue/entering.ts'
import { EMPTY_QUEUE, type Owner, type QueueFile } from '../src/queue/item.ts'
import { isSameOwner } from '../src/queue/owners.ts'
import { claim, isSuperseded, mark, release, settle } from '../src/queue/working.ts'
import { gate, machine, push, type Script, session, until } from './support.ts'

const untilAborted: Script = async ({ task }) => {
  await new Promise((resolve) => task.signal.addEventListener('abort', resolve))
  return { status: 'aborted', text: '', costUsd: 0 }
}

/** A session in which everything waits: another one owns the rules, and it is busy. */
async function busy() {
  const on = machine()
  const owner = await session({
    on,
    cwd: on.project('a'),
    sessionId: 'owner',
    script: untilAborted,
    options: { max_concurrent_runs: 1 },
  })
  await owner.add({ createdBy: { sessionId: 'owner' } })
  await owner.push(push({ traceId: 'first', receivedAt: 1 }))
  await until(() => owner.rules.running().length === 1)
  return { on, owner }
}

const waitingOf = ({ rules }: Awaited<ReturnType<typeof session>>) =>
  rules.queue().filter(({ state }) => state === 'waiting')

describe('pushes that wait', () => {
  it('wait in the queue and not in a slot, the oldest goes first, and each says so once', async () => {
    const on = machine()
    const gates = [gate(), gate(), gate()]
    const order: string[] = []
    const script: Script = async ({ task, report, turn }) => {
      order.push(/"trace_id": "(\w+)"/.exec(task.prompt)?.[1] ?? '')
      await gates[turn]?.promise
      await report()
    }
    const one = await session({ on, cwd: on.project('a'), script, options: { max_concurrent_runs: 1 } })
    await one.add()
    await one.push(push({ traceId: 'one', receivedAt: 1 }))
    await until(() => one.rules.slots().inUse === 1)
    await one.push(push({ traceId: 'three', receivedAt: 3 }))
    await one.push(push({ traceId: 'two', receivedAt: 2 }))
    await until(() => one.states().filter((state) => state === 'deferred').length > 0)
    for (const { resolve } of gates) resolve()
    await until(() => one.states().filter((state) => state === 'completed').length === 3)
    expect(order).toEqual(['one', 'two', 'three'])
    const deferred = one.audit.filter(({ state }) => state === 'deferred')
    expect(new Set(deferred.map(({ traceId }) => traceId)).size).toBe(deferred.length)
    expect(deferred[0]?.details).toMatchObject({ reason: '1 sub-agent(s) already in flight (max 1)' })
  })

  it('are replaced by the latest of their key, which keeps their age, or collapse into the first', async () => {
    const { owner } = await busy()
    const list = { key: 'list', replacement: 'latest_replaces' } as const
    expect(await owner.push(push({ traceId: 'old', receivedAt: 1_000, ...list }))).toEqual({ sink: 'rules' })
    expect(await owner.push(push({ traceId: 'new', receivedAt: 9_000, ...list }))).toEqual({ sink: 'rules' })
    expect(waitingOf(owner)).toMatchObject([{ traceId: 'new', receivedAt: 1_000 }])
    const once = { key: 'once', replacement: 'drop' } as const
    await owner.push(push({ traceId: 'kept', receivedAt: 2_000, ...once }))
    expect(await owner.push(push({ traceId: 'dropped', receivedAt: 9_000, ...once }))).toEqual({
      sink: 'rules',
      dropped: 'an equal push is being checked',
    })
    expect(waitingOf(owner)).toMatchObject([{ traceId: 'new' }, { traceId: 'kept', receivedAt: 2_000 }])
    const rowOf = (trace: string) => owner.audit.find(({ traceId }) => traceId === trace)
    expect(rowOf('new')).toMatchObject({ state: 'accepted', details: { queued: 'replaced', pending: 1 } })
    expect(rowOf('dropped')).toMatchObject({ state: 'deduped', details: { queued: 'collapsed' } })
  })

  it('are checked once more when a newer one of their key comes while they are checked', async () => {
    const on = machine()
    const began = gate()
    const go = gate()
    const script: Script = async ({ report, turn }) => {
      if (turn === 0) {
        began.resolve()
        await go.promise
      }
      await report()
    }
    const one = await session({ on, cwd: on.project('a'), script })
    await one.add()
    const list = { key: 'list', replacement: 'latest_replaces' } as const
    await one.push(push({ traceId: 'old', ...list }))
    await began.promise
    await one.push(push({ traceId: 'new', ...list }))
    go.resolve()
    await until(() => one.states().filter((state) => state === 'completed').length === 2)
    expect(one.agents.tasks.map(({ prompt }) => /"trace_id": "(\w+)"/.exec(prompt)?.[1])).toEqual([
      'old',
      'new',
    ])
  })

  it('are at most thirty-two: the oldest goes to the inbox with a row of its own', async () => {
    const { on, owner } = await busy()
    for (let n = 0; n < MOST_WAITING; n++) await owner.push(push({ traceId: `n${n}`, receivedAt: 1_000 + n }))
    expect(owner.inbox).toEqual([])
    await owner.push(push({ traceId: 'late', receivedAt: 5_000 }))
    const [line] = await until(() => (owner.inbox.length > 0 ? owner.inbox : undefined))
    expect(line).toMatchObject({
      trigger: { traceId: 'n0' },
      reason: 'more than 32 pushes wait to be checked against rules',
      cwd: on.project('a'),
    })
    expect(waitingOf(owner)).toHaveLength(MOST_WAITING)
    const rowsOf = () => owner.audit.filter(({ traceId }) => traceId === 'n0').map(({ state }) => state)
    await until(() => rowsOf().includes('redirected'))
    expect(rowsOf().filter((state) => state !== 'deferred')).toEqual(['accepted', 'dropped', 'redirected'])
  })

  it('survive that every process ends', async () => {
    const { on, owner } = await busy()
    await owner.push(push({ traceId: 'waiting' }))
    await owner.close()
    const later = await session({ on, cwd: on.project('a') })
    await until(() => later.states().filter((state) => state === 'completed').length === 2)
    const traces = later.audit.filter(({ state }) => state === 'completed').map(({ traceId }) => traceId)
    expect(traces.toSorted()).toEqual(['first', 'waiting'])
  })

  it('are not checked against rules that are disabled or removed meanwhile', async () => {
    const { owner } = await busy()
    const rule = await owner.add({ createdBy: { sessionId: 'owner' } })
    await owner.push(push({ traceId: 'waiting' }))
    for (const { id } of owner.rules.store.list({ all: true }))
      if (id === rule.id) await owner.rules.store.remove(id)
      else await owner.rules.store.setEnabled(id, false)
    await until(() => owner.audit.some(({ traceId, state }) => traceId === 'waiting' && state === 'dropped'))
    await until(() => waitingOf(owner).length === 0)
    expect(owner.agents.tasks).toHaveLength(1)
  })

  it('hold nothing of what only channels may hand on', async () => {
    const { on, owner } = await busy()
    await owner.push(push({ content: 'private words', attributes: { chat: 'private' } }))
    expect(readFileSync(join(on.loopsDir, 'trigger-queue.json'), 'utf8')).not.toContain('private')
  })
})

it('checks the newest alone when an older one of its key was given back', async () => {
  const { on, owner } = await busy()
  const list = { key: 'list', replacement: 'latest_replaces' } as const
  const free = await session({ on, cwd: on.project('a'), sessionId: 'free', script: untilAborted })
  const rule = await free.add({ createdBy: { sessionId: 'free' } })
  await free.push(push({ traceId: 'old', ...list }))
  await until(() => free.rules.running().length === 1)
  await free.push(push({ traceId: 'new', ...list }))
  await owner.close()
  await free.close()
  const later = await session({ on, cwd: on.project('a') })
  await until(() => later.rules.queue().length === 0)
  const rows = later.audit.filter(({ details }) =>
    (details?.rule_ids as string[] | undefined)?.includes(rule.id),
  )
  expect(rows.map(({ traceId, state }) => `${traceId} ${state}`)).toEqual(
    expect.arrayContaining(['old dropped', 'new completed']),
  )
  expect(rows.some(({ traceId, state }) => traceId === 'old' && state === 'completed')).toBe(false)
})

describe('a push that comes too late', () => {
  it('is not checked when it is in the inbox already', async () => {
    const { owner } = await busy()
    expect(await owner.push(push({ traceId: 'late' }), AbortSignal.abort())).toBeUndefined()
    expect(waitingOf(owner)).toEqual([])
  })
})

describe('the inbox', () => {
  it('is asked again for what it did not take', async () => {
    const on = machine()
    let open = false
    const taken: string[] = []
    const one = await session({
      on,
      cwd: on.project('a'),
      script: async () => ({ status: 'failed', error: 'no' }),
      host: {
        toInbox: async ({ traceId }) => {
          if (open) taken.push(traceId)
          return open
        },
      },
    })
    await one.add()
    await one.push(push({ traceId: 'stuck' }))
    const left = (): readonly unknown[] => (on.state('trigger-queue.json') as QueueFile).leaving
    await until(() => left().length === 1)
    await one.close()
    open = true
    const two = await session({
      on,
      cwd: on.project('a'),
      host: {
        toInbox: async ({ traceId }) => {
          taken.push(traceId)
          return true
        },
      },
    })
    await until(() => left().length === 0)
    expect(taken).toEqual(['stuck'])
    await until(() => two.states().includes('redirected'))
  })

  it('hears of an action that may be incomplete, also when its process ended before the rule was disarmed', async () => {
    const on = machine()
    const off = await session({ on, cwd: on.project('a'), withoutAgents: true })
    const rule = await off.add()
    const item = {
      id: 'item',
      kind: 'check',
      trigger: push({ traceId: 'gone' }),
      cwd: on.project('a'),
      parts: {
        [rule.id]: { state: 'reported', attempts: 1, owner: { pid: 2 ** 22 + 1, instance: 'x', until: 0 } },
      },
    }
    writeFileSync(join(on.loopsDir, 'trigger-queue.json'), JSON.stringify({ ...EMPTY_QUEUE, items: [item] }))
    await off.close()
    const one = await session({ on, cwd: on.project('a') })
    const [line] = await until(() => (one.inbox.length > 0 ? one.inbox : undefined))
    expect(line).toMatchObject({ trigger: { traceId: 'gone' }, reason: expect.stringContaining(rule.id) })
    expect(one.rules.store.get(rule.id)).toMatchObject({ enabled: false, firedAt: expect.any(String) })
    expect(one.agents.tasks).toEqual([])
  })
})

describe('a disk that is full', () => {
  /** Files of which the queue cannot be written while `full` says so. */
  const files = (full: () => boolean): Files => ({
    ...realFiles,
    json: (options) => {
      const file = realFiles.json(options)
      return {
        ...file,
        update: (change) =>
          options.path.endsWith('trigger-queue.json') && full()
            ? Promise.reject(new Error('ENOSPC: no space left on device'))
            : file.update(change),
      }
    },
  })

  it('makes no check run twice and no line stand twice in the inbox', async () => {
    const on = machine()
    let full = false
    const script: Script = async ({ ids, report }) => {
      await report(...ids)
      full = true
      return { status: 'failed', error: 'half done' }
    }
    const one = await session({ on, cwd: on.project('a'), script, host: { files: files(() => full) } })
    await one.add()
    await one.push(push())
    await until(() => one.rules.status().persistenceError?.includes('ENOSPC'))
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect([one.agents.tasks.length, one.inbox.length]).toEqual([1, 0])
    full = false
    await until(() => one.inbox.length > 0)
    await until(() => one.rules.queue().length === 0)
    expect(one.agents.tasks).toHaveLength(1)
    expect(one.inbox).toHaveLength(1)
  })

  it('takes what is in the inbox out of the queue when it can', async () => {
    const on = machine()
    let full = false
    const inbox: string[] = []
    const one = await session({
      on,
      cwd: on.project('a'),
      script: async () => ({ status: 'over_budget' }),
      host: {
        files: files(() => full),
        toInbox: async ({ traceId }) => {
          full = true
          inbox.push(traceId)
          return true
        },
      },
    })
    await one.add()
    await one.push(push({ traceId: 'once' }))
    await until(() => inbox.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 500))
    full = false
    await until(() => (on.state('trigger-queue.json') as QueueFile).leaving.length === 0)
    expect(inbox).toEqual(['once'])
  })

  it('lets a push go to the inbox that cannot be queued', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a'), host: { files: files(() => true) } })
    await one.add()
    expect(await one.push(push())).toEqual({ sink: 'rules', refused: expect.stringContaining('ENOSPC') })
    expect(one.states()).toEqual(['failed'])
  })
})

describe('the file of the queue', () => {
  it.each<[string, string]>([
    ['no JSON', '{"version":1,"items":['],
    ['another thing', '[]'],
    ['empty', ''],
  ])('is kept under another name when it is %s and about to be replaced', async (_what, content) => {
    const on = machine()
    writeFileSync(join(on.loopsDir, 'trigger-queue.json'), content)
    const one = await session({ on, cwd: on.project('a') })
    await one.add()
    expect(await one.push(push())).toEqual({ sink: 'rules' })
    await until(() => one.states().includes('completed'))
    const kept = readdirSync(on.loopsDir).find((name) => name.startsWith('trigger-queue.json.unreadable-'))
    expect(readFileSync(join(on.loopsDir, kept ?? ''), 'utf8')).toBe(content)
    expect(one.rules.status().persistenceError).toContain('are now in')
  })

  it('loses damaged entries and no others', async () => {
    const on = machine()
    const off = await session({ on, cwd: on.project('a'), withoutAgents: true })
    const rule = await off.add()
    const good = {
      id: 'good',
      kind: 'push',
      trigger: push({ traceId: 'good' }),
      cwd: on.project('a'),
      parts: { [rule.id]: { state: 'waiting', attempts: 0, notBefore: Date.now() + 10 ** 12 } },
    }
    const bad = [
      null,
      7,
      {},
      { ...good, parts: null },
      { ...good, trigger: {} },
      { ...good, parts: { x: {} } },
    ]
    const file = { version: 1, items: [...bad, good], leaving: [null, {}], recent: [null, { key: 1 }] }
    writeFileSync(join(on.loopsDir, 'trigger-queue.json'), JSON.stringify(file))
    await off.close()
    const one = await session({ on, cwd: on.project('a') })
    // Its time lies so far ahead that only a clock that has been set back explains it.
    await until(() => one.audit.some(({ traceId, state }) => traceId === 'good' && state === 'completed'))
    await until(() => one.rules.queue().length === 0)
    expect(on.state('trigger-queue.json')).toMatchObject({ items: [], leaving: [] })
    expect(one.rules.status().persistenceError).toContain('8 damaged entries')
  })

  it('is not made where there is nothing to wait for', async () => {
    const on = machine()
    const one = await session({ on, cwd: on.project('a') })
    await one.push(push())
    await one.close()
    expect(existsSync(join(on.loopsDir, 'trigger-queue.json'))).toBe(false)
  })
})

describe('parts of an item', () => {
  const owners: readonly Owner[] = [1, 2, 3].map((pid) => ({ pid, instance: 'i', until: 0 }))
  const step = fc.record({
    owner: fc.constantFrom(...owners),
    ids: fc.uniqueArray(fc.constantFrom('dyn-a', 'dyn-b', 'dyn-c')),
    what: fc.constantFrom('claim', 'report', 'done', 'release', 'die', 'enter'),
    key: fc.constantFrom('k', 'l'),
    latest: fc.boolean(),
  })

  it('are had by one owner at a time and end once, whoever dies', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let queue: QueueFile = EMPTY_QUEUE
        const dead = new Set<number>()
        let clock = 0
        const sound: boolean[] = []
        for (const { owner, ids, what, key, latest } of steps) {
          if (what === 'die') dead.add(owner.pid)
          if (what === 'enter') {
            const trigger = push({
              key,
              replacement: latest ? 'latest_replaces' : 'drop',
              receivedAt: ++clock,
            })
            ;[queue] = enter(queue, { trigger, cwd: '/p', ruleIds: ids, self: owner })
          }
          const item = queue.items.find((each) => each.trigger.key === key)
          if (!item || dead.has(owner.pid)) continue
          const isFree = (part: { owner?: Owner; state: string }): boolean =>
            part.owner === undefined || dead.has(part.owner.pid)
          if (what === 'claim') {
            const before = item.parts
            const [next, { ids: had }] = claim(queue, item.id, ids, owner, isFree)
            sound.push(...had.map((id) => before[id] !== undefined && isFree(before[id])))
            queue = next
          }
          if (what === 'report') [queue] = mark(queue, item.id, ids, owner, 'reported')
          if (what === 'done')
            queue = settle(queue, item.id, (part) => isSameOwner(part.owner, owner), { done: ids })
          if (what === 'release') queue = release(queue, owner)
          for (const { parts } of queue.items) {
            expect(Object.keys(parts).length).toBeGreaterThan(0)
            sound.push(
              Object.values(parts).every(({ state, owner }) => state !== 'running' || owner !== undefined),
            )
          }
          // Of equal pushes that wait for a rule, one is checked: the others are superseded.
          for (const k of ['k', 'l'])
            for (const id of ['dyn-a', 'dyn-b', 'dyn-c']) {
              const checked = queue.items.filter(
                (each) =>
                  each.trigger.key === k &&
                  each.parts[id]?.state === 'waiting' &&
                  !isSuperseded(queue, each, id),
              )
              sound.push(checked.length < 2)
            }
        }
        expect(sound).not.toContain(false)
      }),
      { numRuns: 500 },
    )
  })
})
