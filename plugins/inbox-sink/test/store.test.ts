import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditRow } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { startCramped } from './child.ts'
import { byText, createPlace, finding } from './place.ts'

const FIELDS = [
  'id',
  'created_at',
  'status',
  'kind',
  'source',
  'run_id',
  'cwd',
  'text',
  'verified',
  'dismiss_reason',
  'job_id',
  'session_id',
  'claimed_by',
  'verified_reason',
  'dismissed_at',
]

describe('the store', () => {
  it('is empty where there is no file, and makes none by being read', () => {
    const { open, paths } = createPlace()
    expect(open().entries()).toEqual([])
    expect(readdirSync(paths.loopsDir)).toEqual([])
  })

  it('writes a finding as one private line in the order of fields that pi-loops writes', async () => {
    const { open, path, lines, paths } = createPlace()
    const at = Date.parse('2026-10-03T12:00:00.123Z')
    expect(await open().add(finding('build 7 failed', { runId: 'trace-1', at }))).toBe(true)
    const [line = ''] = lines()
    const written = JSON.parse(line) as Record<string, unknown>
    expect(Object.keys(written)).toEqual(FIELDS)
    expect(written).toMatchObject({
      id: expect.stringMatching(/^inb-[0-9a-f]{32}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.123[+-]\d\d:\d\d$/),
      status: 'new',
      kind: 'news',
      run_id: 'trace-1',
      verified: null,
      dismiss_reason: null,
    })
    expect(Date.parse(String(written.created_at))).toBe(at)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(paths.loopsDir)).toEqual(['inbox.jsonl'])
  })

  it('adds a finding of one run once, whoever adds it', async () => {
    const { open, lines } = createPlace()
    const [one, other] = [open(), open()]
    const same = finding('the same', { runId: 'trace-1' })
    const added = await Promise.all([one.add(same), one.add(same), other.add(same), other.add(same)])
    expect(added.filter(Boolean)).toHaveLength(1)
    expect(lines()).toHaveLength(1)
    expect(await other.add(finding('nobody knows its run', { runId: '' }))).toBe(true)
    expect(await one.add(finding('nor of this one', { runId: '' }))).toBe(true)
  })

  it('puts texts on one line, without what steers a terminal, and cuts them by code points', async () => {
    const { open } = createPlace()
    const inbox = open()
    await inbox.add(
      finding(`  a\n\tb\u001B[31m\u202Ec\u0000 ${'😀'.repeat(600)}`, {
        source: `trigger:mcp:${'s'.repeat(200)}`,
      }),
    )
    const [entry] = inbox.entries()
    expect(entry?.text).toMatch(/^a b c 😀+…$/u)
    expect(Array.from(entry?.text ?? '')).toHaveLength(500)
    expect(entry?.source).toHaveLength(80)
    expect(entry?.source).toMatch(/…$/)
  })

  it('believes no time that is not yet', async () => {
    const { open } = createPlace()
    const inbox = open()
    for (const at of [Date.now() + 86_400_000, Number.NaN, Infinity, -Infinity, 8.64e15, -8.64e15])
      await inbox.add(finding('odd', { at }))
    for (const { created_at } of inbox.entries())
      expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000)
  })

  it('is claimed by one of several who claim it at once', async () => {
    const { open, lines } = createPlace()
    const windows = Array.from({ length: 6 }, () => open())
    await windows[0]!.add(finding('wanted'))
    const { id } = byText(windows[0]!, 'wanted')
    const claims = await Promise.all(windows.map((window, index) => window.claim(id, `window ${index}`)))
    const won = claims.filter(({ done }) => done)
    expect(won).toHaveLength(1)
    expect(claims.every(({ entry }) => entry?.status === 'claimed')).toBe(true)
    expect(JSON.parse(lines()[0]!)).toMatchObject({
      status: 'claimed',
      claimed_by: won[0]?.entry?.claimed_by,
    })
  })

  it('never takes a status back', async () => {
    const { open } = createPlace()
    const inbox = open()
    await inbox.add(finding('one'))
    await inbox.add(finding('two'))
    const [one, two] = [byText(inbox, 'one'), byText(inbox, 'two')]
    await inbox.claim(one.id, 'me')
    await inbox.dismiss(two.id, ' not\nours ')
    expect(await inbox.dismiss(one.id)).toMatchObject({ done: false, entry: { status: 'claimed' } })
    expect(await inbox.claim(two.id)).toMatchObject({ done: false, entry: { status: 'dismissed' } })
    expect(await inbox.revise(one.id, 'else')).toBe(false)
    expect(await inbox.dismissAll([one.id, two.id, 'inb-none'])).toEqual([])
    expect(await inbox.claim('inb-none')).toEqual({ done: false })
    expect(inbox.entries()).toMatchObject([
      { status: 'claimed', claimed_by: 'me', dismiss_reason: null, dismissed_at: null },
      { status: 'dismissed', dismiss_reason: 'not ours', dismissed_at: expect.stringMatching(/^\d{4}-/) },
    ])
  })

  it('dismisses what it is told and nothing that came since', async () => {
    const { open } = createPlace()
    const inbox = open()
    for (const text of ['a', 'b', 'c']) await inbox.add(finding(text))
    const seen = inbox.entries().map(({ id }) => id)
    await inbox.claim(seen[1]!)
    await open().add(finding('later'))
    expect((await inbox.dismissAll(seen)).map(({ text }) => text)).toEqual(['a', 'c'])
    expect(inbox.entries().map(({ status }) => status)).toEqual(['dismissed', 'claimed', 'dismissed', 'new'])
  })

  it('writes claims and dismissals into the audit trail', async () => {
    const { open } = createPlace()
    const rows: AuditRow[] = []
    const inbox = open({ audit: (row) => void rows.push(row) })
    await inbox.add(finding('one', { runId: 'trace-1' }))
    await inbox.add(finding('two', { runId: 'trace-2' }))
    const [one, two] = inbox.entries()
    await inbox.claim(one!.id, 'me')
    await inbox.claim(one!.id, 'me')
    await inbox.dismiss(two!.id, 'seen')
    expect(rows).toEqual([
      expect.objectContaining({
        type: 'inbox',
        traceId: 'trace-1',
        cwd: '/home/ann/app',
        state: 'claimed',
        sourceLabel: 'trigger:mcp:hub',
        summary: 'one',
        details: { id: one!.id, claimed_by: 'me' },
      }),
      expect.objectContaining({
        traceId: 'trace-2',
        state: 'dismissed',
        details: { id: two!.id, dismiss_reason: 'seen' },
      }),
    ])
  })

  it('sees what other processes have written', async () => {
    const { open } = createPlace()
    const [one, other] = [open(), open()]
    for (let n = 0; n < 5; n++) {
      await (n % 2 === 0 ? one : other).add(finding(`${n}`))
      expect([one, other].map((inbox) => inbox.entries().length)).toEqual([n + 1, n + 1])
    }
    await one.claim(one.entries()[4]!.id)
    expect(other.entries()[4]!.status).toBe('claimed')
  })

  it('lets go the older half of what is triaged beyond a megabyte, and nothing that is new', async () => {
    const { open, lines, path, write } = createPlace()
    const line = (n: number, status: string): string =>
      JSON.stringify({ id: `inb-${n}`, status, text: `${n} ${'x'.repeat(480)}`, run_id: `run-${n}` })
    const before = Array.from({ length: 2_100 }, (_, n) =>
      line(n, n % 3 === 0 ? 'new' : n % 3 === 1 ? 'claimed' : 'odd'),
    )
    write(`${before.join('\n')}\nno line of ours\n`)
    expect(statSync(path).size).toBeGreaterThan(1024 * 1024)
    const inbox = open()
    await inbox.add(finding('one more'))
    const claimed = before.filter((_, n) => n % 3 === 1)
    const kept = claimed.slice(claimed.length / 2)
    expect(lines()).toEqual([
      ...before.filter((text, n) => n % 3 !== 1 || kept.includes(text)),
      'no line of ours',
      expect.stringContaining('one more'),
    ])
  })
})

describe('a file that is not as it should be', () => {
  it('is read in the older shapes, and what they say beyond is kept', async () => {
    const { open, write, lines } = createPlace()
    const older = [
      {
        id: 'inb-aa',
        created_at: '2026-09-01T10:00:00Z',
        source: 'cron:nightly',
        text: 'red · waits: ok?',
        trace_id: 'run-1',
        session_id: 's',
        status: 'new',
        job_id: 'cron-1',
        mine: { a: 1 },
      },
      {
        id: 'inb-bb',
        createdAt: '2026-09-01T10:00:00Z',
        source: 'cron:n',
        text: 'two',
        traceId: 'run-2',
        status: 'dismissed',
        dismissReason: 'old',
        claimedBy: null,
      },
      { id: 'inb-cc', text: 'three', runId: 'run-3', verified: true },
      { id: 'inb-dd', text: 'four', status: 'archived', kind: 'odd', verified: 'perhaps', cwd: 7 },
    ]
    write(older.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    const inbox = open()
    expect(inbox.entries()).toMatchObject([
      { id: 'inb-aa', kind: 'checkpoint', run_id: 'run-1', job_id: 'cron-1', session_id: 's', cwd: '' },
      { id: 'inb-bb', run_id: 'run-2', status: 'dismissed', dismiss_reason: 'old', kind: 'news' },
      { id: 'inb-cc', run_id: 'run-3', status: 'new', verified: true, source: '', created_at: '' },
      { id: 'inb-dd', status: 'archived', kind: 'news', verified: null, cwd: '' },
    ])
    expect(await inbox.add(finding('again', { runId: 'run-2' }))).toBe(false)
    expect(await inbox.claim('inb-dd')).toMatchObject({ done: false, entry: { status: 'archived' } })
    await inbox.claim('inb-aa')
    expect(lines().slice(1)).toEqual(older.slice(1).map((entry) => JSON.stringify(entry)))
    const changed = JSON.parse(lines()[0]!) as Record<string, unknown>
    expect(Object.keys(changed)).toEqual([...FIELDS, 'mine'])
    expect(changed).toMatchObject({ status: 'claimed', run_id: 'run-1', mine: { a: 1 } })
  })

  it('keeps every line that it does not understand as it stands', async () => {
    const { open, write, lines } = createPlace()
    const odd = [
      '{"id":"inb-x","te',
      '',
      '42',
      'null',
      '[{"id":"inb-y","text":"t"}]',
      '{"id":7,"text":"t"}',
      '{"id":"inb-z"}',
      '\t \r',
    ]
    const good = JSON.stringify({ id: 'inb-good', text: 'good', status: 'new' })
    write([...odd.slice(0, 4), good, ...odd.slice(4), ''].join('\n'))
    const inbox = open()
    expect(inbox.entries().map(({ id }) => id)).toEqual(['inb-good'])
    await inbox.claim('inb-good')
    await inbox.add(finding('next'))
    await inbox.dismissAll(inbox.entries().map(({ id }) => id))
    expect(lines()).toEqual([
      ...odd.slice(0, 4),
      expect.stringContaining('"claimed"'),
      ...odd.slice(4),
      expect.stringContaining('"dismissed"'),
    ])
  })

  it('ends a torn last line before the next one', async () => {
    const { open, write, lines } = createPlace()
    write('{"id":"inb-1","text":"whole"}\n{"id":"inb-2","te')
    const inbox = open()
    await inbox.add(finding('after'))
    expect(lines()).toEqual([
      '{"id":"inb-1","text":"whole"}',
      '{"id":"inb-2","te',
      expect.stringContaining('after'),
    ])
    expect(inbox.entries().map(({ text }) => text)).toEqual(['whole', 'after'])
  })

  it('keeps a copy of bytes that are no text before it is written anew', async () => {
    const { open, write, path, paths } = createPlace()
    const bytes = Buffer.concat([
      Buffer.from('{"id":"inb-1","text":"whole"}\n{"id":"inb-2","text":"caf'),
      Buffer.from([0xc3]),
    ])
    write(bytes)
    const inbox = open()
    await inbox.claim('inb-1')
    await inbox.add(finding('after'))
    await inbox.claim(byText(inbox, 'after').id)
    const copies = readdirSync(paths.loopsDir).filter((name) => name !== 'inbox.jsonl')
    expect(copies).toEqual([expect.stringMatching(/^inbox\.jsonl\.unreadable-\d+$/)])
    expect(readFileSync(join(paths.loopsDir, copies[0]!))).toEqual(bytes)
    expect(readFileSync(path, 'utf8')).toContain('{"id":"inb-2","text":"caf')
  })

  it('says what is in its place, and touches nothing', async () => {
    const { open, path } = createPlace()
    mkdirSync(path)
    const inbox = open()
    const sentence = `The inbox ${path} cannot be read: a directory stands in its place. Move it away.`
    expect(() => inbox.entries()).toThrow(sentence)
    await expect(inbox.add(finding('lost'))).rejects.toThrow(sentence)
    await expect(inbox.claim('inb-1')).rejects.toThrow(sentence)
    expect(lstatSync(path).isDirectory()).toBe(true)
  })

  it('says that it cannot be written when a file is in the place of its directory', async () => {
    const { open, path, write, lines } = createPlace()
    write('{"id":"inb-1","text":"whole"}\n')
    const nowhere = open({ loopsDir: path })
    await expect(nowhere.add(finding('lost'))).rejects.toThrow(
      /^The inbox .* cannot be written: a file .*away\.$/,
    )
    expect(lines()).toEqual(['{"id":"inb-1","text":"whole"}'])
  })

  it('says that a disk is full, and loses nothing that was there', async () => {
    const { open, paths, path, write } = createPlace()
    const whole = Array.from({ length: 8 }, (_, n) =>
      JSON.stringify({ id: `inb-${n}`, text: `${n}`.repeat(440) }),
    )
    const before = `${whole.join('\n')}\n`
    write(before)
    expect(before.length).toBeLessThan(8 * 512)
    const child = startCramped(8, 'add.ts', paths.loopsDir, 'x'.repeat(400), 'inb-3')
    const { added, claimed } = JSON.parse(await child.output) as Record<string, string>
    for (const said of [added, claimed])
      expect(said).toBe(`The inbox ${path} cannot be written: it would be larger than the system allows.`)
    const now = readFileSync(path, 'utf8')
    expect(now.startsWith(before)).toBe(true)
    expect(now).toHaveLength(8 * 512)
    expect(readdirSync(paths.loopsDir)).toEqual(['inbox.jsonl'])
    const inbox = open()
    expect(await inbox.add(finding('there is room again', { runId: 'cramped' }))).toBe(true)
    expect(inbox.entries().map(({ id }) => id)).toEqual(
      [...Array(8).keys()].map((n) => `inb-${n}`).concat(byText(inbox, 'there is room again').id),
    )
    expect(await inbox.claim('inb-3')).toMatchObject({ done: true })
  })

  it('takes a lock that a dead process left long ago', async () => {
    const { open, paths, lines } = createPlace()
    const lock = join(paths.loopsDir, 'inbox.lock')
    mkdirSync(lock)
    utimesSync(lock, 1, 1)
    await open().add(finding('in time'))
    expect(lines()).toHaveLength(1)
    expect(existsSync(lock)).toBe(false)
  })
})
