import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { type Files, files } from '@tapline/core'
import { describe, expect, it, vi } from 'vitest'
import { createPlace, eventually, first, openSession, trigger } from './place.ts'

const WINDOW_MS = 300_000
const hasProc = existsSync('/proc/self/stat')

describe('a project', () => {
  it('counts an event once in all its windows', async () => {
    const place = createPlace()
    const [a, b] = [await openSession(place), await openSession(place)]
    expect(await a.deliver('1')).toBe('first')
    await eventually(() => expect(place.read()[place.key('key')]).not.toHaveProperty('state'))
    expect(await b.ask(trigger('2'))).toEqual({ verdict: 'duplicate', of: '1' })
    expect(await a.ask(trigger('3'))).toEqual({ verdict: 'duplicate', of: '1' })
    expect(a.warnings).toEqual([])
  })

  it('is told apart from others, and is the same through a link', async () => {
    const place = createPlace()
    const at = (cwd: string) => ({ ...place, paths: { ...place.paths, cwd } })
    const other = at(`${place.project}-other`)
    const link = at(`${place.project}-link`)
    mkdirSync(other.paths.cwd)
    symlinkSync(place.project, link.paths.cwd)
    expect(await (await openSession(place)).deliver('1')).toBe('first')
    expect(await (await openSession(other)).deliver('2')).toBe('first')
    const linked = await openSession(link)
    await eventually(async () =>
      expect(await linked.ask(trigger('3'))).toEqual({ verdict: 'duplicate', of: '1' }),
    )
  })

  it('leaves no file where nothing is delivered, and where the window has no length', async () => {
    const place = createPlace()
    const observer = await openSession(place, {}, { delivers: false })
    expect(await observer.deliver('1')).toBe('first')
    expect(await observer.deliver('2')).toBe('duplicate')
    const off = await openSession(place, { windowMs: 0 })
    expect(await off.deliver('3')).toBe('first')
    expect(await off.deliver('4')).toBe('first')
    await off.dispose()
    expect(existsSync(place.loopsDir)).toBe(false)
  })
})

describe('a claim', () => {
  it('is pending in the file until it is settled, and then has the shape that pi-loops writes', async () => {
    const place = createPlace()
    const window = await openSession(place)
    const before = Date.now()
    const claim = first(await window.ask(trigger('1', { replacement: 'latest_replaces' })))
    await eventually(() =>
      expect(place.read()[place.key('key')]).toMatchObject({
        traceId: '1',
        policy: 'latest_replaces',
        state: 'pending',
        pid: process.pid,
        instance: expect.any(String) as string,
      }),
    )
    claim.done?.()
    await eventually(() =>
      expect(place.read()).toEqual({
        [place.key('key')]: { at: expect.any(Number) as number, traceId: '1', policy: 'latest_replaces' },
      }),
    )
    const { at } = place.read()[place.key('key')] as { at: number }
    expect(at).toBeGreaterThanOrEqual(before)
    expect(at).toBeLessThanOrEqual(Date.now())
    expect(lstatSync(place.path).mode & 0o777).toBe(0o600)
    await eventually(() => expect(place.names()).toEqual(['dedup.json']))
  })

  it('makes other windows ask again until it is settled', async () => {
    const place = createPlace()
    const [a, b, c] = [await openSession(place), await openSession(place), await openSession(place)]
    const claim = first(await a.ask(trigger('1')))
    const waits = await b.ask(trigger('2'))
    expect(waits).toEqual({ verdict: 'later', until: expect.any(Number) as number, of: '1' })
    const { until } = waits as { until: number }
    expect(until - Date.now()).toBeGreaterThan(500)
    expect(until - Date.now()).toBeLessThan(1_500)
    // In its own window nobody waits for it.
    expect(await a.ask(trigger('3'))).toEqual({ verdict: 'duplicate', of: '1' })

    claim.failed?.()
    const second = await eventually(async () => first(await b.ask(trigger('2'), true)))
    expect(await a.ask(trigger('4'))).toMatchObject({ verdict: 'later', of: '2' })
    expect(await c.ask(trigger('5'))).toMatchObject({ verdict: 'later', of: '2' })
    second.done?.()
    await eventually(async () =>
      expect(await c.ask(trigger('5'), true)).toEqual({ verdict: 'duplicate', of: '2' }),
    )
    expect(await a.ask(trigger('4'), true)).toEqual({ verdict: 'duplicate', of: '2' })
    // What has been settled long ago changes nothing any more.
    claim.failed?.()
    claim.done?.()
    expect(await a.ask(trigger('6'))).toEqual({ verdict: 'duplicate', of: '2' })
  })

  it('is free when its session has ended, though the process goes on', async () => {
    const place = createPlace()
    const [a, b] = [await openSession(place), await openSession(place)]
    const claim = first(await a.ask(trigger('1')))
    expect(await b.ask(trigger('2'))).toMatchObject({ verdict: 'later', of: '1' })
    await a.dispose()
    expect(place.read()).toEqual({})
    expect(await b.ask(trigger('2'), true)).toMatchObject({ verdict: 'first' })
    claim.done?.()
    expect(await b.ask(trigger('3'))).toEqual({ verdict: 'duplicate', of: '2' })
  })

  it('is free though others have written since it was claimed', async () => {
    const place = createPlace()
    const [a, b] = [await openSession(place), await openSession(place)]
    const claim = first(await a.ask(trigger('1')))
    expect(await b.deliver('2', { key: 'other' })).toBe('first')
    await eventually(() => expect(place.read()[place.key('other')]).not.toHaveProperty('state'))
    claim.failed?.()
    await eventually(() => expect(Object.keys(place.read())).toEqual([place.key('other')]))
    expect(await b.ask(trigger('3'))).toMatchObject({ verdict: 'first' })
  })

  it('is free also when its session ends while it gives the lock back', async () => {
    const place = createPlace()
    let giveBack: (() => void) | undefined
    const slow: Files = {
      ...files,
      locked: async (path, work) => {
        const result = await files.locked(path, work)
        await new Promise<void>((resolve) => (giveBack = resolve))
        return result
      },
    }
    const window = await openSession(place, {}, { files: slow })
    first(await window.ask(trigger('1')))
    await eventually(() => expect(giveBack).toBeDefined())
    const ended = window.dispose()
    giveBack?.()
    await eventually(() => expect(place.read()).toEqual({}))
    giveBack?.()
    await ended
  })

  it('is written before the session has ended', async () => {
    const place = createPlace()
    const window = await openSession(place)
    for (const key of ['a', 'b']) first(await window.ask(trigger(key, { key }))).done?.()
    await window.dispose()
    expect(Object.values(place.read()).map(({ traceId, state }) => [traceId, state])).toEqual([
      ['a', undefined],
      ['b', undefined],
    ])
  })

  it('says again and again that its holder is there', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const place = createPlace()
    const window = await openSession(place)
    const claim = first(await window.ask(trigger('1')))
    const beat = (): unknown => place.read()[place.key('key')]?.beat
    await eventually(() => expect(beat()).toBe(Date.now()))
    const at = Date.now()
    for (const seconds of [5, 10]) {
      vi.advanceTimersByTime(5_000)
      await eventually(() => expect(beat()).toBe(at + seconds * 1_000))
    }
    claim.done?.()
    await eventually(() => expect(beat()).toBeUndefined())
    expect(place.read()[place.key('key')]?.at).toBe(at)
    vi.useRealTimers()
  })
})

describe('a claim of another program', () => {
  it('counts when it is in the window', async () => {
    const place = createPlace()
    place.write({
      [place.key('key')]: { at: Date.now() - WINDOW_MS + 5_000, traceId: 'theirs', policy: 'drop' },
      [place.key('old')]: { at: Date.now() - WINDOW_MS - 1, traceId: 'old', policy: 'drop' },
    })
    const window = await openSession(place)
    expect(await window.ask(trigger('1'))).toEqual({ verdict: 'duplicate', of: 'theirs' })
    expect(await window.ask(trigger('2', { key: 'old' }))).toMatchObject({ verdict: 'first' })
  })

  it('is kept with all that it says, as long as it is in the window', async () => {
    const place = createPlace()
    const at = Date.now()
    const theirs = {
      'a@/elsewhere': { at, traceId: 'a', policy: 'drop', more: { deep: [1, null, 'x'] } },
      'b@/elsewhere': { at: at - 1_000, traceId: 'b', state: 'stateless' },
      'c@/elsewhere': { at: at + 30_000, traceId: 'c' },
      'd@/elsewhere': { traceId: 'undated' },
      'e@/elsewhere': 'what is this',
      'f@/elsewhere': null,
    }
    const over = {
      'g@/elsewhere': { at: at - WINDOW_MS - 1, traceId: 'g' },
      'h@/elsewhere': { at: at + 90_000, traceId: 'h' },
    }
    const named = `"__proto__":{"at":${at},"traceId":"named"}`
    place.write(JSON.stringify({ ...theirs, ...over }).replace('{', `{${named},`))
    const window = await openSession(place)
    expect(await window.deliver('1')).toBe('first')
    await window.dispose()
    expect(readFileSync(place.path, 'utf8')).toContain(named)
    const { [place.key('key')]: ours, ...rest } = Object.fromEntries(
      Object.entries(place.read()).filter(([key]) => key !== '__proto__'),
    )
    expect(ours).toMatchObject({ traceId: '1' })
    expect(rest).toEqual(theirs)
  })

  it.each<[string, 'first' | 'later', Record<string, unknown>]>([
    ['a process that is gone', 'first', { pid: 2 ** 22 + 1, started: 'here' }],
    ['a process that has another’s number', 'first', { pid: process.ppid, started: 'here' }],
    ['a session that this process never had', 'first', { pid: process.pid, started: 'self', instance: 'x' }],
    ['somewhere else, and fresh', 'later', { pid: 1, started: 'else/where/1', beat: 0 }],
    ['somewhere else, and not heard of', 'first', { pid: 1, started: 'else/where/1', beat: -25_000 }],
    ['somewhere else, from the future', 'first', { pid: 1, started: 'else/where/1', beat: 25_000 }],
    ['a process of this number, and fresh', 'later', { pid: process.ppid, beat: -5_000 }],
    ['a process of this number, and not heard of', 'first', { pid: process.ppid, beat: -25_000 }],
    ['no process, and fresh', 'first', { pid: 2 ** 22 + 1, beat: 0 }],
    ['nobody in particular, and fresh', 'later', { pid: 'many', beat: 0 }],
    ['nobody', 'first', {}],
  ])('that is pending and held by %s is answered with “%s”', async (_who, verdict, holder) => {
    const place = createPlace()
    const self = await openSession(place)
    first(await self.ask(trigger('mine', { key: 'mine' })))
    const mine = await eventually(() => place.read()[place.key('mine')] as Record<string, unknown>)
    const started = typeof mine.started === 'string' ? mine.started : undefined
    if (started === undefined && 'started' in holder && !hasProc) return
    const now = Date.now()
    const fields = {
      ...holder,
      ...(holder.started === 'here' ? { started: started?.replace(/\d+$/, '123456789') } : {}),
      ...(holder.started === 'self' ? { started } : {}),
      ...(typeof holder.beat === 'number' ? { beat: now + holder.beat } : {}),
    }
    await self.dispose()
    place.write({ [place.key('key')]: { at: now - 1_000, traceId: 'theirs', state: 'pending', ...fields } })
    const window = await openSession(place)
    expect(await window.ask(trigger('1'))).toMatchObject({ verdict })
  })
})

it('answers what is known at once, and remembers the newest 10,000', async () => {
  const place = createPlace()
  const window = await openSession(place)
  for (let n = 0; n < 12_500; n++) first(await window.ask(trigger(`${n}`, { key: `key ${n}` }))).done?.()
  await window.dispose()
  const keys = Object.keys(place.read())
  expect(keys).toHaveLength(10_000)
  expect(keys[0]).toBe(place.key('key 2500'))

  const next = await openSession(place)
  expect(await next.ask(trigger('again', { key: 'key 12499' }))).toEqual({
    verdict: 'duplicate',
    of: '12499',
  })
  expect(await next.ask(trigger('again', { key: 'key 0' }))).toMatchObject({ verdict: 'first' })
})
