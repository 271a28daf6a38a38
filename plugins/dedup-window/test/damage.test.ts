import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { type Files, files } from '@tapline/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { enter } from '../src/holder.ts'
import { createPlace, eventually, filesInTurn, first, openSession, type Place, trigger } from './place.ts'

const WINDOW_MS = 300_000

afterEach(() => void vi.useRealTimers())

const setAside = (place: Place): string[] =>
  place.names().filter((name) => name.startsWith('dedup.json.unreadable-'))

describe('a file that is no JSON object', () => {
  it.each([
    ['half of one', '{\n"key@/p":{"at":17500000'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"dedup"'],
    ['zeros', '\0'.repeat(4_096)],
    ['two', '{}{}'],
    ['no UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0xd8]).toString('latin1')],
  ])('but %s is set aside and never overwritten', async (_what, content) => {
    const place = createPlace()
    place.write(content)
    const window = await openSession(place)
    expect(await window.deliver('1')).toBe('first')
    expect(await window.deliver('2')).toBe('duplicate')
    const [kept = ''] = setAside(place)
    expect(readFileSync(join(place.loopsDir, kept), 'utf8')).toBe(content)
    expect(window.warnings).toEqual([
      `${place.path} could not be read as JSON. It is kept as ${join(place.loopsDir, kept)}; events of the last minutes may be delivered twice.`,
    ])
    await window.dispose()
    expect(place.read()[place.key('key')]).toMatchObject({ traceId: '1' })
  })

  it.each([
    ['empty', ''],
    ['blank', ' \n'],
  ])('but %s holds nothing, as after a power cut', async (_what, content) => {
    const place = createPlace()
    place.write(content)
    const window = await openSession(place)
    expect(await window.deliver('1')).toBe('first')
    await window.dispose()
    expect(place.names()).toEqual(['dedup.json'])
    expect(window.warnings).toEqual([])
  })

  it('forgets nothing that a session knows', async () => {
    const place = createPlace()
    const window = await openSession(place)
    expect(await window.deliver('1')).toBe('first')
    await eventually(() => expect(place.read()[place.key('key')]).not.toHaveProperty('state'))
    place.write('{')
    expect(await window.deliver('2')).toBe('duplicate')
    expect(await window.deliver('3', { key: 'other' })).toBe('first')
    await eventually(() =>
      expect(Object.keys(place.read()).toSorted()).toEqual([place.key('key'), place.key('other')]),
    )
    expect(setAside(place)).toHaveLength(1)
  })
})

it('does not stumble over what stands in the file, and keeps what is in the window', async () => {
  const now = 1_750_000_000_000
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now })
  const number = fc.oneof(fc.double(), fc.integer({ min: now - 400_000, max: now + 100_000 }))
  const claim = fc.record(
    {
      at: fc.oneof(number, number, fc.jsonValue()),
      traceId: fc.oneof(fc.uuid(), fc.jsonValue()),
      policy: fc.constantFrom('drop', 'latest_replaces', 'other'),
      state: fc.constantFrom('pending', 'done', 1),
      pid: fc.oneof(fc.integer(), fc.double(), fc.string()),
      started: fc.string(),
      instance: fc.oneof(fc.string(), fc.integer()),
      beat: fc.oneof(number, fc.jsonValue()),
      windowMs: fc.oneof(fc.double(), fc.integer()),
      more: fc.jsonValue(),
    },
    { requiredKeys: ['at', 'traceId'] },
  )
  const key = fc.oneof(
    fc.constantFrom('key', 'other').map((name) => ({ name })),
    fc.string(),
  )
  const content = fc.array(fc.tuple(key, fc.oneof(claim, claim, fc.jsonValue())), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(content, async (entries) => {
      const place = createPlace()
      const turns = filesInTurn()
      const before = Object.fromEntries(
        entries.map(([name, fields]) => [typeof name === 'string' ? name : place.key(name.name), fields]),
      )
      place.write(before)
      const parsed = place.read()
      const window = await openSession(place, {}, turns)
      for (const name of ['key', 'other', 'third'])
        expect(['first', 'duplicate', 'later']).toContain(await window.deliver(name, { key: name }))
      await window.dispose()
      expect(window.warnings).toEqual([])
      const after = place.read()
      expect(after[place.key('third')]).toMatchObject({ traceId: 'third' })
      const ours = ['key', 'other', 'third'].map((name) => place.key(name))
      const dated = Object.entries(parsed).flatMap(([name, fields]) => {
        const { at, windowMs } = (fields ?? {}) as { at?: unknown; windowMs?: unknown }
        return typeof at === 'number' ? [{ name, fields, at, windowMs }] : []
      })
      const isInWindow = (at: number): boolean => at > now - WINDOW_MS && at <= now + 60_000
      const kept = dated.filter(
        ({ name, at, windowMs }) => !ours.includes(name) && windowMs === undefined && isInWindow(at),
      )
      for (const { name, fields } of kept) expect(after[name]).toEqual(fields)
      for (const { name, fields } of dated.filter(({ at }) => at > now + 60_000))
        expect(after[name]).not.toEqual(fields)
    }),
    { numRuns: 200 },
  )
})

describe('a place that cannot be used', () => {
  it.each<[string, () => Place, string]>([
    [
      'under a file',
      () => {
        const place = createPlace('file/loops')
        writeFileSync(dirname(place.loopsDir), '')
        return place
      },
      'dedup.json cannot be used: ',
    ],
    [
      'with a directory of that name',
      () => {
        const place = createPlace()
        mkdirSync(place.path, { recursive: true })
        return place
      },
      'dedup.json cannot be used: EISDIR',
    ],
  ])('%s makes it a window of this process, which is said once', async (_where, make, said) => {
    const place = make()
    const window = await openSession(place)
    const claim = first(await window.ask(trigger('1')))
    expect(await window.deliver('2')).toBe('duplicate')
    claim.failed?.()
    expect(await window.deliver('3')).toBe('first')
    expect(await window.ask(trigger('4'))).toEqual({ verdict: 'duplicate', of: '3' })
    expect(window.warnings).toHaveLength(1)
    expect(window.warnings[0]).toContain(said)
    expect(window.warnings[0]).toContain(
      'Until it can, this window does not know what other windows deliver: events may be delivered in each.',
    )
    const began = performance.now()
    await window.dispose()
    // There is nothing to wait for.
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  it('is used as soon as it can be, with what was claimed until then', async () => {
    const place = createPlace()
    mkdirSync(place.path, { recursive: true })
    const window = await openSession(place)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    expect(await window.deliver('1')).toBe('first')
    rmSync(place.path, { recursive: true })
    await eventually(() => {
      vi.advanceTimersByTime(1_000)
      expect(place.read()[place.key('key')]).toMatchObject({ traceId: '1' })
    })
    vi.useRealTimers()
    const other = await openSession(place)
    expect(await other.deliver('2')).toBe('duplicate')
    // And it listens to the others again.
    expect(await other.deliver('3', { key: 'other' })).toBe('first')
    await eventually(() => expect(place.read()[place.key('other')]).not.toHaveProperty('state'))
    expect(await window.ask(trigger('4', { key: 'other' }))).toEqual({ verdict: 'duplicate', of: '3' })
    expect(window.warnings).toHaveLength(1)
  })

  it('does not hold up an event when the file can be read and not written', async () => {
    const place = createPlace()
    const turns = filesInTurn()
    const window = await openSession(place, {}, turns)
    expect(await window.deliver('1')).toBe('first')
    await turns.quiet()
    // What the file would be replaced from cannot be made: as on a full disk.
    mkdirSync(join(place.loopsDir, `dedup.json.${process.pid}.tmp`))
    expect(await window.deliver('2', { key: 'other' })).toBe('first')
    await eventually(() => expect(window.warnings).toHaveLength(1))
    expect(await window.deliver('3', { key: 'other' })).toBe('duplicate')
    expect(await window.deliver('4', { key: 'third' })).toBe('first')
    expect(Object.keys(place.read())).toEqual([place.key('key')])
    expect(window.warnings).toHaveLength(1)
  })

  it('is swept of what killed processes have left half written', async () => {
    const place = createPlace()
    place.write({})
    const aged = new Date(Date.now() - 100_000)
    for (const name of ['dedup.json.1.tmp', 'dedup.json.2.tmp', 'other.json.1.tmp']) {
      writeFileSync(join(place.loopsDir, name), '{"key')
      if (name !== 'dedup.json.2.tmp') utimesSync(join(place.loopsDir, name), aged, aged)
    }
    const window = await openSession(place)
    expect(await window.deliver('1')).toBe('first')
    await window.dispose()
    // The second one may be written at this moment, under a lock that somebody took away.
    expect(place.names()).toEqual(['dedup.json', 'dedup.json.2.tmp', 'other.json.1.tmp'])
  })

  it('is a file that may only be read: it is replaced', async () => {
    const place = createPlace()
    place.write({})
    chmodSync(place.path, 0o400)
    const window = await openSession(place)
    expect(await window.deliver('1')).toBe('first')
    await window.dispose()
    expect(place.read()[place.key('key')]).toMatchObject({ traceId: '1' })
    expect(window.warnings).toEqual([])
  })

  it('is a symbolic link: it stays one', async () => {
    const place = createPlace()
    const target = join(place.project, 'elsewhere.json')
    mkdirSync(place.loopsDir)
    writeFileSync(target, '{}')
    symlinkSync(target, place.path)
    const window = await openSession(place)
    expect(await window.deliver('1')).toBe('first')
    await window.dispose()
    expect(JSON.parse(readFileSync(target, 'utf8'))).toHaveProperty([place.key('key'), 'traceId'], '1')
  })
})

describe('a lock', () => {
  it('that a dead process left is broken', async () => {
    const place = createPlace()
    const lock = `${place.path}.lock`
    mkdirSync(lock, { recursive: true })
    // pi-loops writes into it who has it.
    writeFileSync(join(lock, 'owner'), '1.abc')
    const then = new Date(Date.now() - 11_000)
    utimesSync(lock, then, then)
    const window = await openSession(place)
    expect(await window.deliver('1')).toBe('first')
    await window.dispose()
    expect(place.read()[place.key('key')]).toMatchObject({ traceId: '1' })
    expect(existsSync(lock)).toBe(false)
    expect(window.warnings).toEqual([])
  })

  it.runIf(process.platform === 'linux')('that a killed process left is broken at once', async () => {
    const place = createPlace()
    const lock = `${place.path}.lock`
    mkdirSync(lock, { recursive: true })
    const { pid: gone } = spawnSync(process.execPath, ['-e', ''])
    // Where pids mean the same as here, as a claimer of this machine has written it.
    writeFileSync(join(lock, 'owner'), JSON.stringify({ ...enter(), pid: gone, beat: Date.now() }))
    const window = await openSession(place)
    const began = performance.now()
    expect(await window.deliver('1')).toBe('first')
    await eventually(() => expect(place.read()[place.key('key')]).toMatchObject({ traceId: '1' }))
    expect(performance.now() - began).toBeLessThan(2_500)
    expect(window.warnings).toEqual([])
    await window.dispose()
    expect(place.names()).toEqual(['dedup.json'])
  })

  it('of a process that lives, of another machine, and that is no owner is waited for', async () => {
    const owners = [
      { ...enter(), beat: Date.now() },
      { ...enter(), started: 'elsewhere/1', pid: 4_000_000, beat: Date.now() },
      'nonsense',
    ]
    const waiting = owners.map(async (owner) => {
      const place = createPlace()
      const lock = `${place.path}.lock`
      mkdirSync(lock, { recursive: true })
      writeFileSync(join(lock, 'owner'), JSON.stringify(owner))
      const window = await openSession(place)
      expect(await window.deliver('1')).toBe('first')
      expect(window.warnings).toEqual([expect.stringContaining('is held by another process')])
      expect(existsSync(lock)).toBe(true)
      rmSync(lock, { recursive: true })
      await window.dispose()
    })
    await Promise.all(waiting)
  })

  it(
    'that is not given back holds nobody up for longer than the hook may take',
    { timeout: 20_000 },
    async () => {
      const place = createPlace()
      const lock = `${place.path}.lock`
      mkdirSync(lock, { recursive: true })
      const window = await openSession(place)
      const began = performance.now()
      const verdicts = await Promise.all([
        window.deliver('1'),
        window.deliver('2'),
        window.deliver('3', { key: 'other' }),
      ])
      expect(performance.now() - began).toBeLessThan(4_500)
      expect(verdicts).toEqual(['first', 'duplicate', 'first'])
      expect(window.warnings).toEqual([
        `${place.path} cannot be used: its lock, ${lock}, is held by another process. Until it can, this window does not know what other windows deliver: events may be delivered in each.`,
      ])
      // From now on nobody waits.
      const again = performance.now()
      expect(await window.deliver('4', { key: 'third' })).toBe('first')
      expect(performance.now() - again).toBeLessThan(1_000)
      // It is given back, and all of it is written.
      rmSync(lock, { recursive: true })
      await eventually(() =>
        expect(Object.keys(place.read())).toEqual(['key', 'other', 'third'].map((key) => place.key(key))),
      )
      expect(window.warnings).toHaveLength(1)
    },
  )

  it('that another process may have taken meanwhile is not written under', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const place = createPlace()
    let holds = 0
    const asleep: Files = {
      ...files,
      locked: (path, work) =>
        files.locked(path, () => {
          const working = work()
          if (holds++ > 0) return working
          // The machine sleeps; the lock is broken, and another process claims the same.
          vi.setSystemTime(Date.now() + 10_000)
          place.write({ [place.key('key')]: { at: Date.now(), traceId: 'theirs', policy: 'drop' } })
          return working
        }),
    }
    const window = await openSession(place, {}, { files: asleep })
    const claim = first(await window.ask(trigger('1')))
    first(await window.ask(trigger('2', { key: 'other' }))).done?.()
    await eventually(() => expect(place.read()).toHaveProperty([place.key('other'), 'traceId'], '2'))
    expect(place.read()).toHaveProperty([place.key('key'), 'traceId'], 'theirs')
    // It is theirs now.
    claim.failed?.()
    expect(await window.ask(trigger('3'))).toEqual({ verdict: 'duplicate', of: 'theirs' })
    expect(holds).toBeGreaterThan(1)
  })

  it('that is not given back does not keep a session from ending', { timeout: 20_000 }, async () => {
    const place = createPlace()
    mkdirSync(`${place.path}.lock`, { recursive: true })
    const window = await openSession(place)
    const asked = window.ask(trigger('1'))
    const began = performance.now()
    await window.dispose()
    expect(performance.now() - began).toBeLessThan(3_000)
    expect(await asked).toMatchObject({ verdict: 'first' })
    rmSync(`${place.path}.lock`, { recursive: true })
  })
})
