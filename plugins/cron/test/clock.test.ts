import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPlace, NOON, type Place } from './place.ts'

let place: Place
beforeEach(() => (place = createPlace()))
afterEach(() => place.close())

const MINUTE = 60_000

describe('missed ticks', () => {
  it('of a machine that slept are one event, which says how many and since when', async () => {
    const { cron, events } = await place.open()
    await cron.add({ schedule: 'every 30m', text: 'check' })
    await place.clock.jumpTo(NOON + 100 * MINUTE)
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({
      summary: expect.stringMatching(/^check \[3 ticks missed since 2026-\d\d-\d\d \d\d:\d\d\]$/),
      attributes: {
        due: '2026-11-30T13:30:00.000Z',
        note: expect.stringMatching(/^3 ticks missed since /),
      },
    })
    // The grid stays what it was.
    await place.clock.goTo(NOON + 120 * MINUTE)
    expect(events[1]).toMatchObject({ summary: 'check', attributes: { due: '2026-11-30T14:00:00.000Z' } })
  })

  it('do not count the tick at which the machine woke', async () => {
    const { cron, events } = await place.open()
    await cron.add({ schedule: '*/10 * * * *', text: 'check' })
    await place.clock.jumpTo(NOON + 30 * MINUTE + 5_000)
    expect(events[0]?.summary).toMatch(/^check \[2 ticks missed since/)
  })

  it('of a time when no pi ran are one event too, and one that comes once is late', async () => {
    const first = await place.open()
    await first.cron.add({ schedule: '0 * * * *', text: 'hourly' })
    await first.cron.add({ schedule: 'in 10m', text: 'once' })
    await first.dispose()
    await place.clock.jumpTo(NOON + 5 * 60 * MINUTE + 20 * MINUTE)
    expect(first.events).toEqual([])
    const second = await place.open()
    expect(second.events.map(({ summary }) => summary.replace(/\d{4}-.*\]/, '…]'))).toEqual([
      'hourly [5 ticks missed since …]',
      'once [1 tick missed since …]',
    ])
  })

  it('are not counted beyond a thousand', async () => {
    const { cron, events } = await place.open()
    await cron.add({ schedule: '* * * * *', text: 'x' })
    await place.clock.jumpTo(NOON + 365 * 24 * 60 * MINUTE + 30_000)
    expect(events.map(({ summary }) => summary)).toEqual([
      expect.stringMatching(/\[1000 or more ticks missed since/),
    ])
    expect(events[0]?.attributes?.due).toBe('2027-11-30T12:00:00.000Z')
  })
})

describe('a clock that is set', () => {
  it('back a little repeats nothing', async () => {
    const { cron, events } = await place.open()
    await cron.add({ schedule: 'every 10m', text: 'x' })
    await place.clock.goTo(NOON + 10 * MINUTE)
    await place.clock.jumpTo(NOON + 10 * MINUTE - 2_000)
    await place.clock.goTo(NOON + 19 * MINUTE)
    expect(events).toHaveLength(1)
    await place.clock.goTo(NOON + 20 * MINUTE)
    expect(events).toHaveLength(2)
  })

  it('back by days leaves no job waiting for the time that it came from', async () => {
    const { cron, events } = await place.open()
    await cron.add({ schedule: 'every 10m', text: 'repeats' })
    await place.clock.goTo(NOON + 10 * MINUTE)
    await cron.add({ schedule: 'in 20m', text: 'once' })
    events.length = 0
    const past = NOON - 3 * 24 * 60 * MINUTE
    await place.clock.jumpTo(past)
    expect(events).toEqual([])
    await place.clock.goTo(past + 20 * MINUTE)
    expect(events.map(({ summary, receivedAt }) => `${summary} ${(receivedAt - past) / MINUTE}`)).toEqual([
      'repeats 10',
      'repeats 20',
      'once 20',
    ])
  })

  it('forward and back again does not silence a job until the time where it was', async () => {
    const { cron, events } = await place.open()
    await cron.add({ schedule: '0 * * * *', text: 'hourly' })
    await place.clock.jumpTo(NOON + 10 * 365 * 24 * 60 * MINUTE)
    expect(events).toHaveLength(1)
    await place.clock.jumpTo(NOON + 30 * MINUTE)
    await place.clock.goTo(NOON + 60 * MINUTE)
    expect(events).toHaveLength(2)
    expect(events[1]?.summary).toBe('hourly')
  })

  it('however it goes forward, makes of every tick an event or a missed one, and of none two', async () => {
    // Minutes that pass, awake or asleep.
    const steps = fc.array(fc.record({ minutes: fc.integer({ min: 0, max: 90 }), asleep: fc.boolean() }), {
      minLength: 1,
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 3, max: 40 }), steps, async (every, passed) => {
        const own = createPlace()
        try {
          const { cron, events } = await own.open()
          await cron.add({ schedule: `every ${every}m`, text: 'x' })
          let now = NOON
          for (const { minutes, asleep } of passed) {
            now += minutes * MINUTE
            await (asleep ? own.clock.jumpTo(now) : own.clock.goTo(now))
          }
          // What a sleep hid is found by the next look, at the latest.
          await own.clock.jumpTo(now)
          const counted = events.map(({ attributes, receivedAt }) => {
            const missed = Number(/^(\d+) tick/.exec(attributes?.note ?? '')?.[1] ?? 0)
            const isLate = receivedAt - Date.parse(attributes?.due ?? '') >= MINUTE
            return missed + (isLate ? 0 : 1)
          })
          const ticks = Math.floor((now - NOON) / (every * MINUTE))
          expect(counted.reduce((sum, count) => sum + count, 0)).toBe(ticks)
          expect(new Set(events.map(({ key }) => key)).size).toBe(events.length)
        } finally {
          await own.close()
        }
      }),
      { numRuns: 30 },
    )
  })
})
