import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChatMessage, Host, InboxNote, Trigger, WindowRecord, Windows } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { TURNS_FOLDER } from '../../../src/session/turns/journal-file.ts'
import { noJournal, type TurnJournal } from '../../../src/session/turns/journal.ts'
import { turnsPlugin } from '../../../src/session/turns/takeover.ts'

const message = (traceId: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  text: `framed ${traceId}`,
  traceId,
  server: 'web',
  method: 'm',
  ...more,
})
const event = (traceId: string, more: Partial<Trigger> = {}): Trigger => ({
  kind: 'trigger',
  traceId,
  source: 'mcp',
  server: 'web',
  method: 'm',
  key: traceId,
  replacement: 'drop',
  summary: `m ${traceId}`,
  receivedAt: 1,
  ...more,
})

/** No system gives a process this number. */
const NOBODY = 999_999_999

interface Machine {
  readonly folder: string
  readonly there: WindowRecord[]
  readonly inbox: (readonly [summary: string, note: InboxNote])[]
  /** A window with its journal; `leave` is what a kill does, seen from outside, where `pid` is of no process. */
  open(
    name: string,
    takes?: (trigger: Trigger) => boolean,
    pid?: number,
  ): Promise<{
    journal(): TurnJournal
    dispose(): Promise<void>
    leave(): void
  }>
}

function machine(): Machine {
  const root = mkdtempSync(join(tmpdir(), 'tapline-turns-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const there: WindowRecord[] = []
  const inbox: (readonly [string, InboxNote])[] = []
  const paths = { cwd: root, home: root, agentDir: root, loopsDir: root }
  return {
    folder: join(root, TURNS_FOLDER),
    there,
    inbox,
    async open(instance, takes = () => true, pid = NOBODY) {
      const self: WindowRecord = {
        pid,
        instance,
        cwd: `/work/${instance}`,
        kind: 'interactive',
        heartbeatAt: '',
      }
      there.push(self)
      const windows = { self, list: () => there } as unknown as Windows
      const toInbox: Host['toInbox'] = async (trigger, note) => {
        if (!takes(trigger)) return false
        inbox.push([trigger.summary, note])
        return true
      }
      let journal = noJournal
      const plugin = turnsPlugin((opened) => (journal = opened))
      const kernel = await testKernel(plugin, { host: { paths, windows, delivers: true, toInbox } })
      onTestFinished(() => kernel.dispose())
      return {
        journal: () => journal,
        dispose: () => kernel.dispose(),
        leave: () => void there.splice(there.indexOf(self), 1),
      }
    },
  }
}

const summaries = ({ inbox }: Machine) => inbox.map(([summary]) => summary)
const filesIn = ({ folder }: Machine) => (existsSync(folder) ? readdirSync(folder) : [])

it('hands on in order what waits, and not what has had its turn', async () => {
  const on = machine()
  const one = await on.open('a')
  const [a, b, c] = ['a', 'b', 'c'].map((id) => message(id, { trigger: event(id) })) as [
    ChatMessage,
    ChatMessage,
    ChatMessage,
  ]
  one.journal().keep([a, b])
  one.journal().keep([b])
  one.journal().keep([b, c, message('d')])
  one.leave()
  const two = await on.open('b')
  await expect.poll(() => filesIn(on)).toEqual([])
  expect(summaries(on)).toEqual(['m b', 'm c', 'framed d'])
  expect(on.inbox[0]?.[1]).toEqual({ reason: expect.stringContaining('was killed'), cwd: '/work/a' })
  expect(two.journal().takenOver()).toEqual(new Set())
})

it('leaves alone what a window that is there keeps, and has nothing of one that ended', async () => {
  const on = machine()
  const one = await on.open('a')
  one.journal().keep([message('a')])
  const two = await on.open('b')
  two.journal().keep([message('b')])
  await two.dispose()
  expect(filesIn(on)).toEqual([`${NOBODY}-a.jsonl`])
  expect(two.journal()).toBe(noJournal)
  one.journal().keep([])
  expect(filesIn(on)).toEqual([])
  expect(on.inbox).toEqual([])
})

it('keeps a journal that the inbox does not take, for the next that looks', async () => {
  const on = machine()
  const one = await on.open('a')
  one.journal().keep([message('a'), message('b')])
  one.leave()
  const asked: string[] = []
  const full = await on.open('b', ({ traceId }) => {
    asked.push(traceId)
    return false
  })
  await expect.poll(() => asked).toEqual(['a'])
  await full.dispose()
  full.leave()
  expect(filesIn(on)).toEqual([`${NOBODY}-a.taken`])
  await on.open('c')
  await expect.poll(() => summaries(on)).toEqual(['framed a', 'framed b'])
})

it('belongs to the project of the event where that is another', async () => {
  const on = machine()
  const one = await on.open('a')
  one.journal().keep([message('a', { trigger: event('a', { cwd: '/elsewhere' }) })])
  one.leave()
  await on.open('b')
  await expect.poll(() => on.inbox[0]?.[1].cwd).toBe('/elsewhere')
})

it('takes what it can from a journal that is damaged', async () => {
  const on = machine()
  const one = await on.open('a')
  one.journal().keep([message('a')])
  const path = join(on.folder, `${NOBODY}-a.jsonl`)
  for (const line of [
    'null',
    '3',
    '{"waits":null,"cwd":"/x"}',
    '{"waits":{"kind":"trigger"},"cwd":"/x"}',
    '{"taken":3}',
    '{"waits":',
  ])
    appendFileSync(path, `${line}\n`)
  one.journal().keep([message('a'), message('b')])
  appendFileSync(path, '{"waits":{"kind":"trig')
  one.leave()
  mkdirSync(join(on.folder, `${NOBODY}-dir.jsonl`))
  writeFileSync(join(on.folder, `${NOBODY}-a.jsonl.${NOBODY}.0a1b2c3d.tmp`), '{"waits":{"ki')
  writeFileSync(join(on.folder, `${NOBODY}-x.jsonl`), '\u0000')
  writeFileSync(join(on.folder, 'of-somebody-else.jsonl'), '')
  await on.open('b')
  await expect.poll(() => filesIn(on)).toEqual([`${NOBODY}-dir.taken`, 'of-somebody-else.jsonl'])
  expect(summaries(on)).toEqual(['framed a', 'framed b'])
})

it('is no reason to hold anything up where it cannot be written, and nothing is taken for taken over', async () => {
  const on = machine()
  writeFileSync(on.folder, '')
  const one = await on.open('a')
  expect(() => one.journal().keep([message('a')])).not.toThrow()
  expect(one.journal().takenOver()).toEqual(new Set())
  await one.dispose()
})

it('is written anew where somebody has removed it, and where it could not be written before', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const on = machine()
  const one = await on.open('a')
  one.journal().keep([message('a')])
  rmSync(on.folder, { recursive: true })
  one.journal().keep([message('a')])
  expect(filesIn(on)).toHaveLength(1)
  rmSync(on.folder, { recursive: true })
  writeFileSync(on.folder, '')
  one.journal().keep([message('a'), message('b')])
  rmSync(on.folder)
  vi.advanceTimersByTime(10_000)
  one.journal().keep([message('a'), message('b')])
  expect(one.journal().takenOver()).toEqual(new Set())
  one.leave()
  await on.open('b')
  await expect.poll(() => summaries(on)).toEqual(['framed a', 'framed b'])
})

it('does not grow while there is always something that waits', async () => {
  const on = machine()
  const one = await on.open('a')
  for (let n = 0; n < 1_000; n++) one.journal().keep([message(`${n}`), message(`${n + 1}`)])
  const [name] = filesIn(on)
  expect(readFileSync(join(on.folder, name!), 'utf8').split('\n').length).toBeLessThan(250)
  one.leave()
  await on.open('b')
  await expect.poll(() => summaries(on)).toEqual(['framed 999', 'framed 1000'])
})

it('is read by nobody else', async () => {
  const on = machine()
  const one = await on.open('a')
  one.journal().keep([message('a')])
  expect(statSync(on.folder).mode & 0o077).toBe(0)
  expect(statSync(join(on.folder, filesIn(on)[0]!)).mode & 0o077).toBe(0)
})

describe('a window that is there and says nothing', () => {
  /** Time passes for those who look every ten seconds. */
  const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  const setUp = () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    return machine()
  }
  const takenBy = async (on: Machine, count: number) => {
    await passes(100_000)
    await expect.poll(() => on.inbox).toHaveLength(count)
  }

  it('is given up only after it has done so for a while', async () => {
    const on = setUp()
    const one = await on.open('a', undefined, process.pid)
    one.journal().keep([message('a')])
    one.leave()
    await on.open('b')
    await passes(60_000)
    expect(on.inbox).toEqual([])
    // As after a sleep of the machine, of which each hears when it wakes up.
    on.there.push({ pid: process.pid, instance: 'a', cwd: '/work/a', kind: 'interactive', heartbeatAt: '' })
    await passes(60_000)
    expect(filesIn(on)).toEqual([`${process.pid}-a.jsonl`])
    expect(on.inbox).toEqual([])
  })

  it('is told what was taken over, and has its own again for what comes then', async () => {
    const on = setUp()
    const one = await on.open('a', undefined, process.pid)
    one.journal().keep([message('a'), message('b')])
    one.leave()
    await on.open('b')
    await takenBy(on, 2)
    expect(on.inbox[0]?.[1].reason).toContain('stood still')
    await expect.poll(() => filesIn(on)).toEqual([`${process.pid}-a.taken`])
    // It goes on.
    expect(one.journal().takenOver()).toEqual(new Set(['a', 'b']))
    expect(one.journal().takenOver()).toEqual(new Set())
    one.journal().keep([message('c')])
    expect(filesIn(on)).toEqual([`${process.pid}-a.jsonl`])
    await takenBy(on, 3)
    expect(summaries(on)).toEqual(['framed a', 'framed b', 'framed c'])
  })

  it('leaves to them also what it wrote while they took it over', async () => {
    const on = setUp()
    const one = await on.open('a', undefined, process.pid)
    one.journal().keep([message('a')])
    const late = readFileSync(join(on.folder, `${process.pid}-a.jsonl`), 'utf8').replaceAll('"a"', '"late"')
    one.leave()
    await on.open('b')
    await takenBy(on, 1)
    await expect.poll(() => filesIn(on)).toEqual([`${process.pid}-a.taken`])
    appendFileSync(join(on.folder, `${process.pid}-a.taken`), late)
    expect(one.journal().takenOver()).toEqual(new Set(['a', 'late']))
    // Once: it may be long, and is asked for often.
    expect(one.journal().takenOver()).toEqual(new Set())
    await takenBy(on, 2)
    await vi.waitFor(() => expect(one.journal().takenOver()).toEqual(new Set(['a', 'late'])))
    expect(filesIn(on)).toEqual([])
  })
})

it('gives up after a week what no inbox takes', async () => {
  const on = machine()
  const one = await on.open('a', () => false)
  one.journal().keep([message('a')])
  const path = join(on.folder, `${NOBODY}-a.jsonl`)
  const old = new Date(Date.now() - 8 * 24 * 3_600_000)
  utimesSync(path, old, old)
  one.leave()
  const two = await on.open('b', () => false)
  // The week begins when somebody has looked.
  await expect.poll(() => filesIn(on)).toEqual([`${NOBODY}-a.taken`])
  await two.dispose()
  two.leave()
  utimesSync(join(on.folder, `${NOBODY}-a.taken`), old, old)
  await on.open('c', () => false)
  await expect.poll(() => filesIn(on)).toEqual([])
})
