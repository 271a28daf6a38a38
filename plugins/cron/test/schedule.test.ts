import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { MOST_COUNTED, scheduleOf, takeSchedule } from '../src/schedule/index.ts'
import { NOON } from './place.ts'

const ZONE = process.env.TZ
afterEach(() => {
  if (ZONE === undefined) delete process.env.TZ
  else process.env.TZ = ZONE
})

const HOUR = 3_600_000
const at = (text: string): number => Date.parse(text)
const iso = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString()
const nextOf = (schedule: string, after: number, anchor = after): string | undefined =>
  iso(scheduleOf(schedule, anchor).next(after))

/** The sentence that something is refused with; empty when it is not. */
function refusalOf(action: () => unknown): string {
  try {
    action()
    return ''
  } catch (thrown) {
    return (thrown as Error).message
  }
}

describe('a schedule at the beginning of a text', () => {
  it.each([
    ['every 30m check the build', 'every 30m', 'check the build'],
    ['every 30 minutes check', 'every 30 minutes', 'check'],
    ['Every  2h  check', 'Every 2h', 'check'],
    ['every hour check', 'every hour', 'check'],
    ['every 1h30m 5 minutes of quiet', 'every 1h30m', '5 minutes of quiet'],
    ['every 1h 30m look', 'every 1h 30m', 'look'],
    ['in 1 hour and  30 minutes look', 'in 1 hour and 30 minutes', 'look'],
    ['in 10m 5 servers restart', 'in 10m', '5 servers restart'],
    ['every 30m at work, look', 'every 30m', 'at work, look'],
    ['"every day" at 9:00 the build starts', 'every day', 'at 9:00 the build starts'],
    ['"every 30m" check', 'every 30m', 'check'],
    ["'every 30m' check", 'every 30m', 'check'],
    ['in 10m stand up', 'in 10m', 'stand up'],
    ['at 17:30 go home', 'at 17:30', 'go home'],
    ['at tomorrow 9:00 stand-up', 'at tomorrow 9:00', 'stand-up'],
    ['at 9:00 tomorrow stand-up', 'at 9:00 tomorrow', 'stand-up'],
    ['at 2026-12-01T09:00 release', 'at 2026-12-01T09:00', 'release'],
    ['at 2026-12-01 09:00:30+01:00 release', 'at 2026-12-01 09:00:30+01:00', 'release'],
    ['*/5 * * * * look', '*/5 * * * *', 'look'],
    ['0 9 * * mon-fri 3 things', '0 9 * * mon-fri', '3 things'],
    ['"0 9 1,15 JAN-MAR ?" report\nin two lines', '0 9 1,15 JAN-MAR ?', 'report\nin two lines'],
    ['@daily tidy', '@daily', 'tidy'],
    ['"@Hourly"   tidy', '@hourly', 'tidy'],
    ['daily tidy', '@daily', 'tidy'],
    ['every 30m', 'every 30m', ''],
  ])('is found in %j', (typed, schedule, rest) => {
    expect(takeSchedule(typed)).toEqual({ schedule, rest })
  })

  it.each([
    ['check the build', /^A schedule is expected first: "\*\/5/],
    ['', /^A schedule is expected first/],
    ['every monday do it', /"every monday" needs a length after its first word, such as 30s, 10m/],
    ['in a while', /"in a" needs a length/],
    ['at five', /"at five" needs a time such as 17:30/],
    ['at 5pm leave', /"at 5pm" needs a time/],
    [
      'every day at 9:00 look',
      /^"every day at 9:00" is not understood: .* such as "0 9 \* \* \*".*"every day"/,
    ],
    ['@daily at 9am look', /^"@daily at 9am" is not understood/],
    ['daily 9:00 look', /^"@daily 9:00" is not understood/],
    ['every hour at :15 look', /^"every hour at :15" is not understood/],
    ['in 2 days at 9:00 look', /^"in 2 days at 9:00" is not understood/],
    ['weekly on monday look', /^"@weekly on monday" is not understood/],
    ['monthly on the 1st look', /^"@monthly on the 1st" is not understood/],
    ['at 5:30 pm leave', /^"at 5:30 pm" is not understood/],
    ['at 17:30 every day leave', /^"at 17:30 every day" is not understood/],
    ['at 9:00 on Monday leave', /^"at 9:00 on Monday" is not understood/],
    ['at 2026-12-01 09:00 +01:00 leave', /^"at 2026-12-01 09:00 \+01:00" is not understood/],
    ['at 17:30 UTC leave', /^"at 17:30 UTC" is not understood/],
    ['*/5 * * text', /"\*\/5 \* \* text" does not have the five fields/],
    ['* * * *', /"\* \* \* \*" does not have the five fields/],
    ['0 */5 * * * * text', /has more than five fields/],
    ['@never text', /^"@never" is none of @yearly, @annually, .*@hourly\.$/],
    ['"every 30m check" now', /"every 30m check" is more than a schedule: "check" belongs behind the quotes/],
  ])('is missed in %j', (typed, message) => {
    expect(() => takeSchedule(typed)).toThrow(message)
  })

  it('is what was typed, whatever follows it', () => {
    const schedules = fc.constantFrom('every 30m', 'in 2h', 'at 17:30', '@weekly', '*/5 * * * *')
    fc.assert(
      fc.property(schedules, fc.string({ unit: 'grapheme' }), (schedule, text) => {
        fc.pre(!/^\s*(?:[\d*]|today|tomorrow)/i.test(text))
        expect(takeSchedule(`${schedule} ${text}`)).toEqual({ schedule, rest: text.trim() })
      }),
    )
  })

  it('never hangs on what is none', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('*', '/', '5', ' ', 'm', 'every', 'at', '@', ':', '"') }),
        (text) => {
          const refusal = refusalOf(() => scheduleOf(takeSchedule(text).schedule, NOON).next(NOON))
          expect(refusal).toMatch(/^$|\.$/)
        },
      ),
    )
  })
})

describe('every <length>', () => {
  it('adds up what its length consists of', () => {
    const next = (length: string): string | undefined => nextOf(`in ${length}`, NOON)
    for (const length of ['1h30m', '1h 30m', '1 hour 30 minutes', '1 hour and 30 minutes', '90m', '5400 s'])
      expect(next(length)).toBe('2026-11-30T13:30:00.000Z')
    expect(next('1d 2h 3m 4s')).toBe('2026-12-01T14:03:04.000Z')
    expect(() => next('30m 1h')).toThrow(/needs a length/)
  })

  it('refuses lengths that would do harm', () => {
    expect(() => scheduleOf('every 5s', NOON)).toThrow('"every 5s" is too often: at least 10 seconds apart.')
    expect(() => scheduleOf('every 0m', NOON)).toThrow('too often')
    expect(() => scheduleOf('every 99999999d', NOON)).toThrow('longer than ten years')
    expect(() => scheduleOf('in 0s', NOON)).toThrow('no time at all')
  })

  const lengths = fc.integer({ min: 10, max: 200_000 })
  const spans = fc.integer({ min: -2_000_000_000, max: 2_000_000_000 })

  it('ticks on the grid that began when it was added, and never before', () => {
    fc.assert(
      fc.property(lengths, spans, (seconds, offset) => {
        const next = scheduleOf(`every ${seconds}s`, NOON).next(NOON + offset) as number
        expect(next).toBeGreaterThan(NOON + offset)
        expect(next).toBeGreaterThan(NOON)
        expect((next - NOON) % (seconds * 1_000)).toBe(0)
        // There is none between: one earlier is not after that time, or is no tick.
        const earlier = next - seconds * 1_000
        expect(earlier <= NOON + offset || earlier <= NOON).toBe(true)
      }),
    )
  })

  it('counts the ticks of a span as one would by going from one to the next', () => {
    fc.assert(
      fc.property(lengths, spans, fc.integer({ min: 0, max: 3_000_000 }), (seconds, offset, width) => {
        const schedule = scheduleOf(`every ${seconds}s`, NOON)
        const [after, until] = [NOON + offset, NOON + offset + width]
        const walked: number[] = []
        for (let tick = schedule.next(after); tick !== undefined && tick <= until; tick = schedule.next(tick))
          walked.push(tick)
        expect(schedule.ticks(after, until)).toEqual(
          walked.length === 0 ? undefined : { first: walked[0], last: walked.at(-1), count: walked.length },
        )
      }),
    )
  })
})

describe('in and at', () => {
  it('come once', () => {
    const schedule = scheduleOf('in 1h30m', NOON)
    expect(schedule.once).toBe(true)
    expect(iso(schedule.next(NOON))).toBe('2026-11-30T13:30:00.000Z')
    expect(schedule.next(NOON + 1.5 * HOUR)).toBeUndefined()
    expect(schedule.ticks(NOON, NOON + HOUR)).toBeUndefined()
    expect(schedule.ticks(NOON, NOON + 9 * HOUR)).toMatchObject({ count: 1 })
  })

  it('mean local time, today or else tomorrow', () => {
    process.env.TZ = 'Europe/Berlin'
    expect(nextOf('at 17:30', NOON)).toBe('2026-11-30T16:30:00.000Z')
    expect(nextOf('at 13:00', NOON)).toBe('2026-12-01T12:00:00.000Z')
    expect(nextOf('at today 13:00', NOON)).toBeUndefined()
    expect(nextOf('at 17:30 tomorrow', NOON)).toBe('2026-12-01T16:30:00.000Z')
    expect(nextOf('at 2026-12-01 09:00', NOON)).toBe('2026-12-01T08:00:00.000Z')
    expect(nextOf('at 2026-12-01T09:00:30.5Z', NOON)).toBe('2026-12-01T09:00:30.500Z')
    expect(nextOf('at 2026-12-01 09:00-0330', NOON)).toBe('2026-12-01T12:30:00.000Z')
  })

  it('survive the nights when the clocks change', () => {
    process.env.TZ = 'Europe/Berlin'
    // There is no 02:30 on that day.
    expect(nextOf('at 02:30', at('2026-03-28T23:30:00Z'))).toBe('2026-03-29T01:30:00.000Z')
    expect(nextOf('at tomorrow 12:00', at('2026-10-24T12:00:00Z'))).toBe('2026-10-25T11:00:00.000Z')
    expect(nextOf('in 1d', at('2026-10-24T12:00:00Z'))).toBe('2026-10-25T12:00:00.000Z')
  })

  it.each([
    'at 24:00',
    'at 12:60',
    'at 2026-02-30 12:00',
    'at 2026-13-01 12:00',
    'at 2026-12-01 25:00',
    'at 2026-12-01 12:00:61',
  ])('refuse %s', (schedule) => {
    expect(() => scheduleOf(schedule, NOON)).toThrow(/there is no such (?:day|time of day)\.$/)
  })
})

describe('a cron expression', () => {
  it.each([
    ['*/5 * * * *', '2026-11-30T12:05:00.000Z'],
    ['0 9 * * 1-5', '2026-12-01T09:00:00.000Z'],
    ['30 18 * * mon', '2026-11-30T18:30:00.000Z'],
    ['0 0 1 * *', '2026-12-01T00:00:00.000Z'],
    ['15 14 1 * *', '2026-12-01T14:15:00.000Z'],
    ['0 0 * * 7', '2026-12-06T00:00:00.000Z'],
    // Day of the month and of the week: either of them, as in cron.
    ['0 0 13 * 5', '2026-12-04T00:00:00.000Z'],
    ['0 0 29 2 *', '2028-02-29T00:00:00.000Z'],
    ['@hourly', '2026-11-30T13:00:00.000Z'],
    ['@daily', '2026-12-01T00:00:00.000Z'],
    ['@weekly', '2026-12-06T00:00:00.000Z'],
    ['@monthly', '2026-12-01T00:00:00.000Z'],
    ['@yearly', '2027-01-01T00:00:00.000Z'],
    ['0 0 31 2 *', undefined],
  ])('%s comes next at %s', (schedule, next) => {
    process.env.TZ = 'UTC'
    expect(nextOf(schedule, NOON)).toBe(next)
  })

  it.each([
    ['61 * * * *', '"61 * * * *" is no cron expression: Invalid value for minute: 61.'],
    ['* * * * 9', /is no cron expression/],
    ['@reboot', /"@reboot" is none of @yearly/],
    ['2026-12-01T09:00:00', /does not have the five fields/],
    ['0 0 9 * * 1', /does not have the five fields/],
  ])('%s is refused', (schedule, message) => {
    expect(() => scheduleOf(schedule, NOON)).toThrow(message)
  })

  it('runs at its local time, once, on the days when the clocks change', () => {
    process.env.TZ = 'Europe/Berlin'
    const nightly = scheduleOf('30 2 * * *', 0)
    const spring = nightly.ticks(at('2026-03-27T12:00:00Z'), at('2026-03-30T12:00:00Z'))
    expect(spring).toMatchObject({ count: 3 })
    const autumn = nightly.ticks(at('2026-10-24T12:00:00Z'), at('2026-10-26T12:00:00Z'))
    expect([autumn?.count, iso(autumn?.first), iso(autumn?.last)]).toEqual([
      2,
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
    const hourly = scheduleOf('0 * * * *', 0)
    expect(hourly.ticks(at('2026-10-24T22:30:00Z'), at('2026-10-25T02:30:00Z'))?.count).toBe(4)
    expect(hourly.ticks(at('2026-03-28T22:30:00Z'), at('2026-03-29T02:30:00Z'))?.count).toBe(4)
  })

  it('finds the last of more ticks than are counted, quickly', () => {
    const began = performance.now()
    for (const until of ['2026-01-01T00:00:00Z', '2026-01-01T00:00:30Z', '2026-01-01T00:00:59.999Z'])
      expect(scheduleOf('* * * * *', 0).ticks(at('2016-01-01T00:00:00Z'), at(until))).toEqual({
        first: at('2016-01-01T00:01:00Z'),
        last: at('2026-01-01T00:00:00Z'),
        count: MOST_COUNTED,
      })
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  it('counts the ticks of a span as one would by going from one to the next', () => {
    process.env.TZ = 'Europe/Berlin'
    const expressions = fc.constantFrom(
      '*/7 * * * *',
      '30 2 * * *',
      '0 */3 * * *',
      '0 9 * * 1-5',
      '0 0 1 * *',
    )
    const starts = fc.integer({ min: at('2026-03-20T00:00:00Z'), max: at('2026-11-10T00:00:00Z') })
    fc.assert(
      fc.property(expressions, starts, fc.integer({ min: 0, max: 72 * HOUR }), (expression, after, width) => {
        const schedule = scheduleOf(expression, 0)
        const walked: number[] = []
        for (
          let tick = schedule.next(after);
          tick !== undefined && tick <= after + width;
          tick = schedule.next(tick)
        ) {
          expect(tick).toBeGreaterThan(walked.at(-1) ?? after)
          walked.push(tick)
        }
        expect(schedule.ticks(after, after + width)).toEqual(
          walked.length === 0 ? undefined : { first: walked[0], last: walked.at(-1), count: walked.length },
        )
      }),
      { numRuns: 40 },
    )
  })
})
