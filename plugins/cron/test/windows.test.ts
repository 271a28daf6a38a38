import { createPipeline } from '@tapline/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPlace, NOON, type Place } from './place.ts'

let place: Place
beforeEach(() => (place = createPlace()))
afterEach(() => place.close())

const MINUTE = 60_000

describe('several windows', () => {
  it('fire a job once, in the window that has its project open', async () => {
    const own = await place.open({ cwd: '/one', windows: [{ pid: 101, cwd: '/two' }] })
    const other = await place.open({ cwd: '/two', windows: [{ pid: 100, cwd: '/one' }] })
    await other.cron.add({ schedule: 'every 10m', text: 'for two' })
    await own.cron.add({ schedule: 'every 10m', text: 'for one' })
    await place.clock.goTo(NOON + 30 * MINUTE)
    expect(own.events.map(({ summary }) => summary)).toEqual(['for one', 'for one', 'for one'])
    expect(other.events.map(({ summary }) => summary)).toEqual(['for two', 'for two', 'for two'])
    expect(other.cron.own().map(({ text }) => text)).toEqual(['for two'])
    await expect(own.cron.run(other.cron.own()[0]!.id)).rejects.toThrow('It belongs to /two')
  })

  it('have a job of a directory below theirs, whoever leads', async () => {
    const leader = { pid: 1, cwd: '/elsewhere' }
    const far = { pid: 900, cwd: '/project' }
    const near = await place.open({ cwd: '/project', windows: [leader, far] })
    const { cron } = await place.open({ cwd: '/elsewhere', windows: [{ pid: 50, cwd: '/project' }] })
    const { id } = await cron.add({ schedule: 'every 10m', text: 'look', cwd: '/project/packages/one' })
    expect(near.cron.own().map((job) => job.id)).toEqual([id])
    expect(near.cron.status().state).toBe('connected')
    await place.clock.goTo(NOON + 10 * MINUTE)
    expect(near.events).toMatchObject([{ policy: 'run', summary: 'look', cwd: '/project/packages/one' }])
    expect(cron.status().state).toBe('standby')
  })

  it('that each take themselves for the owner still fire each tick once', async () => {
    const windows = [await place.open(), await place.open(), await place.open(), await place.open()]
    await windows[0]!.cron.add({ schedule: 'every 10m', text: 'x' })
    await place.clock.goTo(NOON + 60 * MINUTE)
    const events = windows.flatMap((window) => window.events)
    expect(events).toHaveLength(6)
    expect(new Set(events.map(({ attributes }) => attributes?.due))).toEqual(
      new Set([10, 20, 30, 40, 50, 60].map((minutes) => new Date(NOON + minutes * MINUTE).toISOString())),
    )
    expect(place.jobs()).toMatchObject([{ runs: 6 }])
  })

  it('take over what a dead owner has left', async () => {
    const all = [
      { pid: 1, cwd: '/project' },
      { pid: 2, cwd: '/elsewhere' },
    ]
    const { cron, events } = await place.open({ windows: all })
    await cron.add({ schedule: 'every 10m', text: 'x' })
    expect(cron.status().state).toBe('standby')
    await place.clock.goTo(NOON + 12 * MINUTE)
    expect(events).toEqual([])
    // The records of dead windows are gone at once.
    const alone = await place.open()
    await place.clock.goTo(NOON + 12 * MINUTE + 30_000)
    expect(alone.events.map(({ summary }) => summary)).toEqual([expect.stringMatching(/^x \[1 tick missed/)])
    expect(alone.cron.status().state).toBe('connected')
  })

  it('learn of a job that another one has added', async () => {
    const one = await place.open({ windows: [{ pid: 999, cwd: '/project' }] })
    const other = await place.open({ windows: [{ pid: 1, cwd: '/project' }] })
    await other.cron.add({ schedule: 'every 10s', text: 'x' })
    await place.clock.goTo(NOON + 40_000)
    expect(one.events.length).toBeGreaterThanOrEqual(1)
    expect(other.events).toEqual([])
  })
})

describe('a job whose project nobody has open', () => {
  it('goes to the inbox once, from the leader, and waits for somebody then', async () => {
    const leader = await place.open({ cwd: '/elsewhere' })
    await leader.cron.add({ schedule: 'every 10m', text: 'check', cwd: '/project' })
    await place.clock.goTo(NOON + 60 * MINUTE)
    expect(leader.events).toMatchObject([
      { policy: 'inbox', cwd: '/project', summary: 'check [no pi is open in project]' },
    ])
    expect(place.jobs()).toMatchObject([{ awaySince: '2026-11-30T12:10:00.000Z', runs: 1 }])

    const own = await place.open({ windows: [{ pid: 100, cwd: '/elsewhere' }] })
    expect(own.events).toMatchObject([
      { policy: 'run', summary: expect.stringMatching(/^check \[\d ticks missed since/) },
    ])
    expect(place.jobs()[0]).not.toHaveProperty('awaySince')
  })

  it('that comes once is in the inbox, and over', async () => {
    const host = await place.open({ cwd: '/home', kind: 'host' })
    await host.cron.add({ schedule: 'in 10m', text: 'stand up', cwd: '/home', deliver: 'summary' })
    await place.clock.goTo(NOON + 60 * MINUTE)
    expect(host.events).toMatchObject([{ policy: 'inbox', summary: 'stand up [no pi is open in home]' }])
    expect(place.jobs()).toMatchObject([{ enabled: false }])
    expect(place.jobs()[0]).not.toHaveProperty('awaySince')
  })

  it('goes on where it needs nobody', async () => {
    const leader = await place.open({ cwd: '/elsewhere' })
    await leader.cron.add({ schedule: 'every 10m', text: 'note', cwd: '/project', deliver: 'inbox' })
    await place.clock.goTo(NOON + 30 * MINUTE)
    expect(leader.events.map(({ summary, policy }) => [summary, policy])).toEqual([
      ['note', 'inbox'],
      ['note', 'inbox'],
      ['note', 'inbox'],
    ])
  })
})

describe('an event that did not get through', () => {
  it('because the session ended is due again, for whoever comes next', async () => {
    const window = await place.open()
    const { cron, kernel } = window
    await cron.add({ schedule: 'in 10m', text: 'once' })
    await cron.add({ schedule: 'every 10m', text: 'repeats' })
    // The books of a pipeline that has ended already.
    const pipeline = createPipeline({ kernel, policyFor: () => 'log' })
    await pipeline.close()
    await place.clock.goTo(NOON + 10 * MINUTE)
    for (const event of window.events.splice(0)) pipeline.admit(event)
    expect(pipeline.book('cron').counts).toMatchObject({ received: 2, dropped: 2 })
    await window.dispose()
    expect(place.jobs()).toMatchObject([
      { text: 'once', enabled: true, runs: 0 },
      { text: 'repeats', enabled: true, runs: 0 },
    ])
    expect(place.jobs()[1]).not.toHaveProperty('lastDueAt')
    const next = await place.open()
    expect(next.events.map(({ summary }) => summary)).toEqual(['once', 'repeats'])
  })

  it('but was dropped for another reason is not repeated', async () => {
    const window = await place.open()
    await window.cron.add({ schedule: 'in 10m', text: 'once', deliver: 'nowhere' })
    const pipeline = createPipeline({ kernel: window.kernel, policyFor: () => 'log' })
    await place.clock.goTo(NOON + 10 * MINUTE)
    for (const event of window.events.splice(0)) pipeline.admit(event)
    expect(pipeline.book('cron').counts).toMatchObject({ received: 1, pending: 0 })
    await window.dispose()
    expect(place.jobs()).toMatchObject([{ enabled: false, runs: 1 }])
  })

  it('because it was refused is tried again', async () => {
    let refuses = true
    const taken: string[] = []
    const { cron } = await place.open({
      host: {
        admit: ({ summary }) => {
          if (refuses) throw new Error('not now')
          taken.push(summary)
        },
      },
    })
    await cron.add({ schedule: 'in 10m', text: 'once' })
    await place.clock.goTo(NOON + 10 * MINUTE)
    expect(cron.status().problems).toEqual([expect.stringMatching(/cannot run: not now/)])
    refuses = false
    await place.clock.goTo(NOON + 11 * MINUTE)
    expect(taken.filter((summary) => summary.startsWith('once'))).toHaveLength(1)
    expect(place.jobs()).toMatchObject([{ enabled: false, runs: 1 }])
  })
})
