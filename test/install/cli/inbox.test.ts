import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { createScratch, type Scratch } from '../../drivers/scratch.ts'
import { runTapline, stdioEntry } from '../tapline.ts'

interface Line {
  readonly id: string
  readonly text: string
  readonly [field: string]: unknown
}

const FILE = 'agent/loops/inbox.jsonl'
const hex = (start: string): string => `inb-${start.padEnd(32, '0')}`

/** An inbox with these findings, as another program may have written it. */
function writeInbox(scratch: Scratch, ...lines: readonly (Partial<Line> | string)[]): void {
  const whole = {
    status: 'new',
    kind: 'news',
    source: 'trigger:mcp:hub',
    run_id: '',
    cwd: '',
    created_at: '2026-10-03T12:00:00+00:00',
  }
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify({ ...whole, ...line })))
  scratch.write(FILE, texts.map((text) => `${text}\n`).join(''))
}

const inboxLines = (scratch: Scratch): string[] =>
  readFileSync(path.join(scratch.root, FILE), 'utf8').split('\n').slice(0, -1)

const auditRows = (scratch: Scratch): unknown[] =>
  readFileSync(path.join(scratch.agent, 'loops/triggers-audit.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

describe('tapline inbox', () => {
  it('lists what is new in this project, or in every one, and starts no server', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const log = path.join(scratch.root, 'log.jsonl')
    scratch.write('agent/mcp.json', { mcpServers: { hub: stdioEntry(servers.misbehaving, '--log', log) } })
    const project = realpathSync(scratch.project)
    writeInbox(
      scratch,
      { id: hex('aa'), text: 'build 7 failed \u001B[31mred', cwd: project },
      { id: hex('bb'), text: 'elsewhere', cwd: '/work/other' },
      { id: hex('cc'), text: 'deploy?', kind: 'checkpoint' },
      { id: hex('dd'), text: 'done', status: 'claimed' },
      '{"torn',
    )
    const text = await runTapline(['inbox'], { scratch })
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toBe(
      [
        `Inbox of ${scratch.project}: 2 new`,
        '  ! cc000000  trigger:mcp:hub  2026-10-03T12:00:00+00:00',
        '      deploy?',
        `  aa000000  trigger:mcp:hub  2026-10-03T12:00:00+00:00  ${project}`,
        '      build 7 failed red',
        '+ 1 new in other projects (--all)',
        '',
      ].join('\n'),
    )
    const json = await runTapline(['inbox', 'list', '--json'], { scratch })
    expect([json.code, json.stderr]).toEqual([0, ''])
    expect(json.json().findings.map(({ text: said }: Line) => said)).toEqual([
      'deploy?',
      'build 7 failed \u001B[31mred',
    ])
    expect(Object.keys(json.json().findings[0])).toEqual([
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
    ])
    const all = await runTapline(['inbox', 'list', '--all', '--json'], { scratch })
    expect(all.json().findings).toHaveLength(3)
    const below = path.join(scratch.project, 'below')
    mkdirSync(below)
    const other = await runTapline(['inbox', 'list', '--cwd', below, '--json'], { scratch })
    expect(other.json().findings).toHaveLength(2)
    expect(() => readFileSync(log)).toThrow('ENOENT')
  })

  it('says that nothing is there, and makes nothing', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const text = await runTapline(['inbox', 'list'], { scratch })
    expect(text).toMatchObject({ code: 0, stderr: '', stdout: `Inbox of ${scratch.project}: nothing new\n` })
    const json = await runTapline(['inbox', 'clear', '--json'], { scratch })
    expect([json.code, json.json()]).toEqual([0, { findings: [] }])
    expect(() => readFileSync(path.join(scratch.root, FILE))).toThrow('ENOENT')
  })

  it('claims once, and prints what was claimed', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    writeInbox(scratch, { id: hex('aa'), text: 'build 7 failed', run_id: 'run-1' }, 'no line of ours')
    const claimed = await runTapline(['inbox', 'claim', 'aa0', '--json'], { scratch })
    expect([claimed.code, claimed.stderr]).toEqual([0, ''])
    expect(claimed.json()).toEqual({
      finding: expect.objectContaining({ id: hex('aa'), status: 'claimed', text: 'build 7 failed' }),
    })
    expect(inboxLines(scratch)).toEqual([
      expect.stringMatching(/"status":"claimed".*"claimed_by":"tapline"/),
      'no line of ours',
    ])
    expect(auditRows(scratch)).toEqual([
      expect.objectContaining({
        type: 'inbox',
        state: 'claimed',
        traceId: 'run-1',
        summary: 'build 7 failed',
      }),
    ])
    const again = await runTapline(['inbox', 'claim', hex('aa'), '--json'], { scratch })
    expect([again.code, again.json()]).toEqual([1, { error: 'Finding aa000000 is already claimed.' }])
    const text = await runTapline(['inbox', 'dismiss', 'aa'], { scratch })
    expect(text).toMatchObject({ code: 1, stdout: '', stderr: 'Finding aa000000 is already claimed.\n' })
  })

  it('dismisses with a reason, written either way', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    writeInbox(
      scratch,
      { id: hex('aa'), text: 'one' },
      { id: hex('bb'), text: 'two' },
      { id: hex('cc'), text: 'three' },
    )
    const one = await runTapline(['inbox', 'dismiss', 'aa', 'not', 'ours', '--json'], { scratch })
    expect(one.json().finding).toMatchObject({ status: 'dismissed', dismiss_reason: 'not ours' })
    const two = await runTapline(['inbox', 'dismiss', 'bb', '--reason', 'too late', '--json'], { scratch })
    expect(two.json().finding).toMatchObject({ status: 'dismissed', dismiss_reason: 'too late' })
    const three = await runTapline(['inbox', 'dismiss', 'cc'], { scratch })
    expect([three.code, three.stdout]).toEqual([
      0,
      'Dismissed:\n  cc000000  trigger:mcp:hub  2026-10-03T12:00:00+00:00\n      three\n',
    ])
    expect(inboxLines(scratch).map((line) => JSON.parse(line).dismiss_reason)).toEqual([
      'not ours',
      'too late',
      null,
    ])
  })

  it('clears this project, and the others only when it is told so', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    writeInbox(
      scratch,
      { id: hex('aa'), text: 'mine' },
      { id: hex('bb'), text: 'theirs', cwd: '/work/other' },
    )
    const own = await runTapline(['inbox', 'clear', '--json'], { scratch })
    expect(own.json().findings).toMatchObject([{ id: hex('aa'), status: 'dismissed' }])
    const all = await runTapline(['inbox', 'clear', '--all'], { scratch })
    expect(all).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Dismissed 1:\n {2}bb000000 .*\n {6}theirs\n$/),
    })
    expect(inboxLines(scratch).map((line) => JSON.parse(line).status)).toEqual(['dismissed', 'dismissed'])
  })

  it('says what it cannot find, understand or read', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    writeInbox(scratch, { id: hex('aa1'), text: 'one' }, { id: hex('aa2'), text: 'two' })
    const failing: [string[], string][] = [
      [['claim', 'ff'], 'No finding has an id that begins with "ff".'],
      [['claim', 'aa'], '2 findings have an id that begins with "aa": give more of it.'],
      [['dismiss', '1'], '"1" is no id: tapline inbox list shows them.'],
      [['claim'], 'Say which one: its id, or the beginning of it.'],
    ]
    for (const [args, error] of failing) {
      const { code, stderr, json } = await runTapline(['inbox', ...args, '--json'], { scratch })
      expect([code, stderr, json()]).toEqual([1, '', { error }])
    }
    const strange = await runTapline(['inbox', 'steal', 'aa1'], { scratch })
    expect(strange).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/no command "steal"[^]*Usage: tapline inbox/),
    })
    mkdirSync(path.join(scratch.root, 'blocked/inbox.jsonl'), { recursive: true })
    const env = { PI_LOOPS_DIR: path.join(scratch.root, 'blocked') }
    const blocked = await runTapline(['inbox', '--json'], { scratch, env })
    expect([blocked.code, blocked.json()]).toEqual([
      1,
      { error: expect.stringMatching(/inbox\.jsonl cannot be read: a directory stands in its place/) },
    ])
    expect(inboxLines(scratch).map((line) => JSON.parse(line).status)).toEqual(['new', 'new'])
  })
})
