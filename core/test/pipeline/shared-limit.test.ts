import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { files, type PushRule, type RateLimit, sharedLimits } from '../../src/index.ts'
import { routing, steps } from './routing.ts'

afterEach(() => void vi.useRealTimers())

const HOUR = 3_600_000
const scratch = (): string => join(mkdtempSync(join(tmpdir(), 'tapline-limits-')), 'limits.json')
const open = (path: string, count = 3, key = 'k', periodMs = HOUR): RateLimit =>
  sharedLimits(files, path).open(key, `${count}/hour`, { count, periodMs }) as RateLimit
const take = (limit: RateLimit): Promise<boolean> => new Promise((resolve) => limit.take(resolve))
const timesIn = (path: string, key = 'k'): number[] =>
  (JSON.parse(readFileSync(path, 'utf8')) as Record<string, { times: number[] }>)[key]?.times ?? []

/** Windows of one project that all hear the same server. */
function windowsOn(
  path: string,
  rule: PushRule,
  count: number,
): Promise<Awaited<ReturnType<typeof routing>>[]> {
  return Promise.all(
    Array.from({ length: count }, () =>
      routing({
        policyFor: () => rule,
        sharedLimit: (source, _entry, written, limit) =>
          sharedLimits(files, path).open(source, written, limit),
        sinks: { fast: () => ({ sink: 'fast' }), inbox: () => ({ sink: 'inbox' }) },
      }),
    ),
  )
}

it('is one limit for three windows, whichever of them delivers', async () => {
  const windows = await windowsOn(scratch(), { policy: 'fast', limit: '6/hour', windows: 'owner' }, 3)
  for (let n = 0; n < 30; n++) {
    const window = windows[n % 3] as (typeof windows)[number]
    window.send('fast', n)
    await window.pipeline.idle()
  }
  await Promise.all(windows.map(({ pipeline }) => pipeline.close()))
  const all = windows.flatMap(({ events }) => steps(events))
  expect(all.filter((step) => step.endsWith('delivered fast'))).toHaveLength(6)
  expect(all.filter((step) => step.includes('redirected inbox'))).toHaveLength(24)
})

it('is each window’s own where every window delivers', async () => {
  const windows = await windowsOn(scratch(), { policy: 'fast', limit: '2/hour', windows: 'all' }, 2)
  for (const { send, pipeline } of windows) {
    for (let n = 0; n < 3; n++) send('fast', n)
    await pipeline.close()
  }
  expect(
    windows.flatMap(({ events }) => steps(events)).filter((step) => step.endsWith(' fast')),
  ).toHaveLength(4)
})

it('holds for a session that begins anew, and keeps arrival order', async () => {
  const path = scratch()
  const rule: PushRule = { policy: 'fast', limit: '3/hour' }
  for (const delivered of [['0', '1'], ['0'], []]) {
    const [window] = (await windowsOn(path, rule, 1)) as [Awaited<ReturnType<typeof routing>>]
    for (let n = 0; n < 2; n++) window.send('fast', n)
    await window.pipeline.close()
    expect(steps(window.events).filter((step) => step.includes('delivered fast'))).toEqual(
      delivered.map((id) => `${id} delivered fast`),
    )
  }
})

it('lets exactly so many through of those who ask at the same moment', async () => {
  const path = scratch()
  const answers = await Promise.all(Array.from({ length: 20 }, () => take(open(path, 7))))
  expect(answers.filter(Boolean)).toHaveLength(7)
})

it('opens again when the period is over, and not before', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const path = scratch()
  const [one, other] = [open(path, 2), open(path, 2)]
  expect([await take(one), await take(other), await take(one), await take(other)]).toEqual([
    true,
    true,
    false,
    false,
  ])
  vi.advanceTimersByTime(HOUR - 1)
  expect([await take(one), await take(other)]).toEqual([false, false])
  vi.advanceTimersByTime(1)
  expect([await take(one), await take(other), await take(open(path, 2))]).toEqual([true, true, false])
})

it('is not opened by a clock that is set back, and not closed for ever by one that was ahead', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const path = scratch()
  const limit = open(path, 1)
  expect(await take(limit)).toBe(true)
  vi.setSystemTime(Date.now() - 10 * HOUR)
  expect(await take(open(path, 1))).toBe(false)
  vi.setSystemTime(Date.now() + 10 * HOUR)
  expect(await take(limit)).toBe(false)

  const year = 365 * 24 * HOUR
  writeFileSync(path, JSON.stringify({ k: { periodMs: HOUR, times: [Date.now() + year] } }))
  const late = open(path, 2)
  expect([await take(late), await take(late)]).toEqual([true, false])
  vi.advanceTimersByTime(HOUR)
  expect(await take(late)).toBe(true)
})

it.each([1, 2])('opens after a period where all %i of it seem to lie ahead', async (count) => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const path = scratch()
  const ahead = Date.now() + 365 * 24 * HOUR
  const other = { periodMs: HOUR, times: [ahead] }
  writeFileSync(path, JSON.stringify({ k: { periodMs: HOUR, times: Array(count).fill(ahead) }, other }))
  expect(await take(open(path, count))).toBe(false)
  vi.advanceTimersByTime(HOUR)
  expect(await take(open(path, count))).toBe(true)
  expect(timesIn(path, 'other')).toEqual([])
})

it('refuses a flood without a look at the file', async () => {
  const path = scratch()
  const limit = open(path, 1)
  await take(open(path, 1))
  expect(await take(limit)).toBe(false)
  writeFileSync(path, '{}')
  let answered: boolean | undefined
  limit.take((taken) => (answered = taken))
  expect(answered).toBe(false)
})

it('forgets keys whose period is over', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const path = scratch()
  await take(open(path, 3, 'short', 60_000))
  await take(open(path, 3, 'long'))
  vi.advanceTimersByTime(60_000)
  await take(open(path, 3, 'k'))
  expect([timesIn(path, 'short').length, timesIn(path, 'long').length, timesIn(path).length]).toEqual([
    0, 1, 1,
  ])
})

it.each(['', '{', '[]', '{"k":3}', '{"k":{"periodMs":1,"times":["x"]}}', 'null'])(
  'sets a file aside that holds %j, and counts anew',
  async (content) => {
    const path = scratch()
    writeFileSync(path, content)
    const limit = open(path, 1)
    expect([await take(limit), await take(open(path, 1))]).toEqual([true, false])
  },
)

it('leaves each process to its own count where nothing can be written', async () => {
  const path = scratch()
  const limit = open(join(path, 'no', 'directory', 'limits.json'), 2)
  writeFileSync(path, '')
  chmodSync(path, 0o400)
  expect([await take(limit), await take(limit), await take(limit)]).toEqual([true, true, false])
})

it('is each process’s own for many events, and for short periods', () => {
  const limits = sharedLimits(files, scratch())
  expect(limits.open('k', '', { count: 1_001, periodMs: HOUR })).toBeUndefined()
  expect(limits.open('k', '', { count: 5, periodMs: 1_000 })).toBeUndefined()
})
