import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Files, files } from '@tapline/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JOB_FILE } from '../src/index.ts'
import { createPlace, NOON, type Place } from './place.ts'

let place: Place
beforeEach(() => (place = createPlace()))
afterEach(() => place.close())

const MINUTE = 60_000

describe('a job', () => {
  it('becomes an event when it is due, under its name, with the words of the person', async () => {
    const { cron, events } = await place.open()
    const text = 'check the \u001b[31mbuild\u001b[0m\u202e and\r\ntell me'
    const job = await cron.add({ schedule: 'every 30m', name: 'build', text })
    expect(job).toMatchObject({
      id: expect.stringMatching(/^job-[0-9a-f]{8}$/),
      deliver: 'run',
      cwd: '/project',
      enabled: true,
      runs: 0,
    })
    await place.clock.goTo(NOON + 30 * MINUTE - 1)
    expect(events).toEqual([])
    await place.clock.goTo(NOON + 30 * MINUTE)
    expect(events).toEqual([
      {
        kind: 'trigger',
        traceId: expect.stringMatching(/^[\w-]{36}$/),
        source: 'cron',
        server: 'cron',
        method: 'build',
        key: `cron:${job.id}:${NOON + 30 * MINUTE}`,
        replacement: 'drop',
        policy: 'run',
        cwd: '/project',
        summary: 'check the build and tell me',
        content: 'check the build and\ntell me',
        attributes: { job: job.id, schedule: 'every 30m', due: '2026-11-30T12:30:00.000Z' },
        receivedAt: NOON + 30 * MINUTE,
      },
    ])
    await place.clock.goTo(NOON + 95 * MINUTE)
    expect(events.map(({ receivedAt }) => receivedAt - NOON)).toEqual(
      [30, 60, 90].map((minutes) => minutes * MINUTE),
    )
    expect(place.jobs()).toMatchObject([
      {
        runs: 3,
        lastDueAt: '2026-11-30T13:30:00.000Z',
        lastRunAt: '2026-11-30T13:30:00.000Z',
        enabled: true,
      },
    ])
  })

  it('has a summary of at most 200 characters, and its whole text as content', async () => {
    const { cron, events } = await place.open()
    const text = 'x'.repeat(8_192)
    await cron.add({ schedule: 'in 1m', text })
    await expect(cron.add({ schedule: 'in 1m', text: `${text}x` })).rejects.toThrow('at most 8192 characters')
    await place.clock.jumpTo(NOON + 600 * MINUTE)
    const [event] = events
    expect(Array.from(event?.summary ?? '')).toHaveLength(200)
    expect(event?.summary).toMatch(/^x+… \[1 tick missed since 20/)
    expect(event?.content).toBe(text)
  })

  it('whose text was made in the file, and is hostile, holds nothing up and says no more', async () => {
    const { cron, events } = await place.open()
    const job = await cron.add({ schedule: 'every 10m', text: 'x' })
    place.write({ version: 1, jobs: [{ ...job, text: `end ${'\u001b]'.repeat(200_000)}` }] })
    const began = performance.now()
    await place.clock.goTo(NOON + 10 * MINUTE)
    expect(performance.now() - began).toBeLessThan(2_000)
    expect(events).toMatchObject([{ summary: 'end', content: 'end' }])
  })

  it('that comes once is disabled then, and may be enabled again', async () => {
    const { cron, events } = await place.open()
    const { id } = await cron.add({ schedule: 'in 10m', text: 'stand up', deliver: 'summary' })
    await place.clock.goTo(NOON + 60 * MINUTE)
    expect(events).toHaveLength(1)
    expect(cron.list()).toMatchObject([{ enabled: false, runs: 1 }])
    expect(await cron.setEnabled(id, true)).toMatchObject({ enabled: true })
    await place.clock.goTo(NOON + 200 * MINUTE)
    expect(events.map(({ receivedAt }) => receivedAt - NOON)).toEqual([10 * MINUTE, 70 * MINUTE])
  })

  it('is refused when it would never come, says nothing, or has a name that is none', async () => {
    const { cron } = await place.open()
    const add = (schedule: string, more: object = {}) => cron.add({ schedule, text: 'x', ...more })
    await expect(add('0 0 31 2 *')).rejects.toThrow('"0 0 31 2 *" never comes, or is over.')
    await expect(add('at 2020-01-01 00:00')).rejects.toThrow('never comes, or is over.')
    await expect(add('every 1s')).rejects.toThrow('too often')
    await expect(add('every 1m', { text: ' \n' })).rejects.toThrow('needs a text')
    for (const name of ['', '7', 'job-1', 'a\nb', 'n'.repeat(61)])
      await expect(add('every 1m', { name })).rejects.toThrow("A job's name has 1 to 60 characters")
    expect(existsSync(join(place.loopsDir, JOB_FILE))).toBe(false)
  })

  it('that is over cannot be enabled again', async () => {
    const { cron } = await place.open()
    const { id } = await cron.add({ schedule: 'at 2026-11-30T12:10:00Z', text: 'x' })
    await place.clock.goTo(NOON + 60 * MINUTE)
    await expect(cron.setEnabled(id, true)).rejects.toThrow(
      '"at 2026-11-30T12:10:00Z" never comes, or is over.',
    )
    expect(cron.list()).toMatchObject([{ enabled: false }])
  })

  it('can be disabled, removed, and run out of turn', async () => {
    const { cron, events } = await place.open()
    const { id } = await cron.add({ schedule: 'every 10m', text: 'x' })
    await cron.setEnabled(id, false)
    await place.clock.goTo(NOON + 25 * MINUTE)
    expect(events).toEqual([])
    await cron.run(id)
    await cron.run(id)
    expect(
      events.map(({ key, attributes }) => [key.replace(/[0-9a-f-]{36}$/, '#'), attributes?.due]),
    ).toEqual([
      [`cron:${id}:run-#`, undefined],
      [`cron:${id}:run-#`, undefined],
    ])
    expect(new Set(events.map(({ key }) => key)).size).toBe(2)
    // What it would have been meanwhile is no missed tick.
    await cron.setEnabled(id, true)
    await place.clock.goTo(NOON + 35 * MINUTE)
    expect(events.at(-1)).toMatchObject({ summary: 'x', attributes: { due: '2026-11-30T12:35:00.000Z' } })
    expect(await cron.remove(id)).toMatchObject({ id, runs: 3 })
    await place.clock.goTo(NOON + 95 * MINUTE)
    expect(events).toHaveLength(3)
    expect([await cron.remove(id), await cron.run(id), await cron.setEnabled(id, true)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('says when it comes next, in order', async () => {
    const { cron } = await place.open()
    const job = await cron.add({ schedule: 'every 30m', text: 'x' })
    expect(cron.next(job, 3).map((date) => (date.getTime() - NOON) / MINUTE)).toEqual([30, 60, 90])
    const once = await cron.add({ schedule: 'in 30m', text: 'x' })
    expect(cron.next(once, 3)).toHaveLength(1)
  })

  it('leaves a trace of each change in the audit trail', async () => {
    const rows: object[] = []
    const { cron } = await place.open({ host: { audit: (row) => void rows.push(row) } })
    const { id } = await cron.add({ schedule: 'every 10m', name: 'build', text: 'check' })
    await cron.setEnabled(id, false)
    await cron.run(id)
    await cron.remove(id)
    expect(rows).toMatchObject(
      ['added', 'disabled', 'run', 'removed'].map((state) => ({
        type: 'cron_control_plane',
        state,
        cwd: '/project',
        sourceLabel: 'cron',
        eventLabel: 'build',
        summary: 'check',
      })),
    )
  })
})

describe('the file of the jobs', () => {
  it('is left alone where nothing can be made of it, said once, and set aside at the next change', async () => {
    place.write('{ "version": 1, "jobs": [')
    const { cron, events } = await place.open()
    await place.clock.goTo(NOON + 5 * MINUTE)
    const path = join(place.loopsDir, JOB_FILE)
    expect(events).toMatchObject([
      {
        policy: 'summary',
        server: 'cron',
        method: 'cron',
        summary: expect.stringMatching(/holds no list of jobs/),
      },
    ])
    expect(events[0]).not.toHaveProperty('content')
    expect(cron.status().problems).toEqual([
      expect.stringMatching(`^${path} holds no list of jobs, so none runs`),
    ])
    expect(readFileSync(path, 'utf8')).toBe('{ "version": 1, "jobs": [')

    await cron.add({ schedule: 'every 10m', text: 'x' })
    const [aside] = readdirSync(place.loopsDir).filter((name) => name.startsWith(`${JOB_FILE}.unreadable-`))
    expect(readFileSync(join(place.loopsDir, aside as string), 'utf8')).toBe('{ "version": 1, "jobs": [')
    expect(events.at(-1)?.summary).toMatch(/was set aside as/)
    expect(cron.status().problems).toEqual([])
    await place.clock.goTo(NOON + 20 * MINUTE)
    expect(events.filter(({ content }) => content !== undefined)).toHaveLength(1)
  })

  it('may hold entries and fields that are not understood: they stay', async () => {
    const strange = { id: 'from-the-future', when: 'later' }
    const { cron, events } = await place.open()
    const { id } = await cron.add({ schedule: 'every 10m', text: 'x' })
    const [job] = place.jobs()
    place.write({ version: 2, also: 'this', jobs: [strange, { ...job, colour: 'red' }, 7] })
    await place.clock.goTo(NOON + 10 * MINUTE)
    expect(JSON.parse(readFileSync(join(place.loopsDir, JOB_FILE), 'utf8'))).toMatchObject({
      version: 2,
      also: 'this',
      jobs: [strange, { id, colour: 'red', runs: 1 }, 7],
    })
    expect(cron.list().map((one) => one.id)).toEqual([id])
    expect(cron.status().problems).toEqual([
      expect.stringMatching(/^Entry 1 of .* is no job and is left alone\.$/),
    ])
    expect(events.map(({ summary }) => summary)).toEqual([expect.stringMatching(/^Entry 1/), 'x'])
  })

  it('may hold two jobs of one id, as when somebody copied one: that is said, and the first one runs', async () => {
    const { cron, events } = await place.open()
    const job = await cron.add({ schedule: 'every 10m', text: 'first' })
    place.write({ version: 1, jobs: [job, { ...job, text: 'copied' }] })
    await place.clock.goTo(NOON + 30 * MINUTE)
    expect(events.map(({ summary }) => summary)).toEqual([
      expect.stringMatching(/^Several jobs of /),
      'first',
      'first',
      'first',
    ])
    expect(cron.status().problems).toEqual([
      expect.stringMatching(
        /^Several jobs of .*tapline-cron\.json have the id job-\w{8}: only the first one runs\./,
      ),
    ])
    expect(cron.list().map(({ text }) => text)).toEqual(['first'])
    await cron.remove(job.id)
    expect(cron.list().map(({ text }) => text)).toEqual(['copied'])
  })

  it('may hold a schedule that is none: that job is named, and the others run', async () => {
    const { cron, events } = await place.open()
    await cron.add({ schedule: 'every 10m', text: 'good' })
    const [good] = place.jobs()
    place.write({ version: 1, jobs: [{ ...good, id: 'job-bad', name: 'bad', schedule: 'whenever' }, good] })
    await place.clock.goTo(NOON + 10 * MINUTE)
    expect(cron.status().problems).toEqual([
      expect.stringMatching(/^Job bad cannot run: "whenever" does not have/),
    ])
    expect(events.map(({ summary }) => summary)).toEqual([
      expect.stringMatching(/^Job bad cannot run/),
      'good',
    ])
  })

  it('that cannot be written stops no window, fires nothing twice, and is said', async () => {
    let broken = false
    const failing: Files = {
      ...files,
      json: (options) => {
        const file = files.json(options)
        const update: typeof file.update = (change) =>
          broken ? Promise.reject(new Error('ENOSPC: no space left on device')) : file.update(change)
        return { ...file, update }
      },
    }
    const { cron, events } = await place.open({ host: { files: failing } })
    await cron.add({ schedule: 'every 10m', text: 'x' })
    broken = true
    await place.clock.goTo(NOON + 15 * MINUTE)
    expect(cron.status().problems).toEqual([expect.stringMatching(/cannot run: ENOSPC: no space left/)])
    expect(events).toMatchObject([{ summary: expect.stringMatching(/ENOSPC/) }])
    await expect(cron.add({ schedule: 'every 1m', text: 'y' })).rejects.toThrow('ENOSPC')
    broken = false
    await place.clock.goTo(NOON + 16 * MINUTE)
    expect(events.slice(1)).toMatchObject([{ summary: expect.stringMatching(/^x \[1 tick missed since /) }])
    expect(cron.status().problems).toEqual([])
  })

  it('that cannot be read is said with its path', async () => {
    const { cron } = await place.open()
    writeFileSync(join(place.loopsDir, 'stands-in-the-way'), '')
    const other = await place.open({
      host: {
        paths: {
          cwd: '/project',
          home: '/',
          agentDir: '/',
          loopsDir: join(place.loopsDir, 'stands-in-the-way'),
        },
      },
    })
    expect(other.cron.status().problems).toEqual([
      expect.stringMatching(/stands-in-the-way\/tapline-cron\.json could not be read: ENOTDIR/),
    ])
    expect(() => other.cron.list()).toThrow('ENOTDIR')
    expect(cron.status().problems).toEqual([])
  })
})

it('starts nothing where nothing is delivered, and keeps the jobs all the same', async () => {
  const { cron, events } = await place.open({ host: { delivers: false } })
  const { id } = await cron.add({ schedule: 'every 10m', text: 'x' })
  await place.clock.goTo(NOON + 60 * MINUTE)
  expect(events).toEqual([])
  expect(cron.status()).toMatchObject({ state: 'disabled', label: 'local crontab: 1 job(s), 1 enabled' })
  await expect(cron.run(id)).rejects.toThrow('Nothing is delivered in this run.')
  expect(place.jobs()).toMatchObject([{ id, runs: 0 }])
})
