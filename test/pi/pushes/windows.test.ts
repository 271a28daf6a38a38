import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, PATIENCE_MS, type Stage } from '../stage.ts'
import { booksOf, isIdle, isPush, keysTold, startSource, type PushSource } from './source.ts'

const WINDOWS = 3
const method = (name: string) => `notifications/demo/${name}`
const keyed = (key: string) => ({ _meta: { pi_dedup_key: key, pi_summary: `<${key}>` } })

/** A sink that takes its time, and writes down what it takes. */
const PAGER = `
import { appendFileSync } from 'node:fs'
export default {
  name: 'pager',
  api: 1,
  setup({ hooks }, { file }) {
    hooks.deliver.sink('pager').tapPromise({}, async ({ summary }) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      appendFileSync(file, summary + '\\n')
      return { sink: 'pager' }
    })
  },
}
`

/** Three pis on one agent directory, in one project, that all hear one server. */
async function openWindows(stage: Stage, source: PushSource, settings = ''): Promise<readonly Pi[]> {
  const push = {
    [method('shown')]: 'summary',
    [method('kept')]: 'inbox',
    [method('paged')]: 'pager',
    [method('limited')]: { policy: 'pager', limit: '4/hour' },
    [method('run')]: { policy: 'run', windows: 'owner' },
    'notifications/resources/updated': 'pager',
  }
  stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, push } })
  stage.scratch.write('agent/pager.mjs', PAGER)
  const lines = ['plugins = ["./pager.mjs"]', '[options.pager]', `file = ${JSON.stringify(paged(stage))}`]
  stage.scratch.write('agent/tapline.toml', [...lines, settings].join('\n'))
  const windows = await Promise.all(Array.from({ length: WINDOWS }, () => stage.start()))
  const listening = async () => (await source.control({ do: 'status' })).streams === WINDOWS
  await waitUntil(listening, PATIENCE_MS, 'all windows to listen')
  return windows
}

const paged = (stage: Stage) => join(stage.scratch.root, 'paged.txt')
const linesOf = (path: string) =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []

/** The books of all windows together, once nothing is on its way in any. */
async function settledBooks(windows: readonly Pi[], received: number) {
  const books = () => Promise.all(windows.map((pi) => booksOf(pi, 'web')))
  const settled = async () => {
    const all = await books()
    return all.every((book) => book.received === received && book.pending === 0) ? all : undefined
  }
  const all = await waitUntil(settled, PATIENCE_MS, () => `${received} pushes to be settled`)
  return (count: string) => all.reduce((sum, book) => sum + (book[count] ?? 0), 0)
}

describe('three pis of one agent directory and one server', () => {
  it('show a push in each, and put it once into the inbox, a custom sink and a turn', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const windows = await openWindows(stage, source)
    for (const name of ['shown', 'kept', 'paged', 'run']) {
      await source.notify(method(name), keyed(`${name}-1`))
      await source.notify(method(name), keyed(`${name}-1`))
    }
    const sum = await settledBooks(windows, 8)
    for (const pi of windows) await waitUntil(() => isIdle(pi), PATIENCE_MS)

    const shown = (pi: Pi) => pi.events.filter(isPush).map(({ message }) => String(message.content))
    for (const pi of windows) expect(shown(pi).filter((text) => text.includes('<shown-1>'))).toHaveLength(1)
    const inbox = linesOf(join(stage.scratch.agent, 'loops/inbox.jsonl'))
    expect(inbox.map((line) => JSON.parse(line).text)).toEqual([`${method('kept')} <kept-1>`])
    expect(linesOf(paged(stage))).toEqual([`${method('paged')} <paged-1>`])
    expect(windows.flatMap(shown).filter((text) => text.includes('&lt;run-1&gt;'))).toHaveLength(1)
    expect(stage.model.requests().map(keysTold)).toHaveLength(1)

    // One in each window, and three that one window did for all.
    expect(sum('delivered')).toBe(WINDOWS + 3)
    expect(sum('deduped') + sum('collapsed')).toBe(8 * WINDOWS - (WINDOWS + 3))
    expect(sum('redirected') + sum('dropped')).toBe(0)
  })

  it('deliver the newest of what replaces once more for all of them, when the window ends', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const windows = await openWindows(stage, source, '[options.dedup-window]\nwindow_ms = 4000')
    const update = (version: number) =>
      source.notify('notifications/resources/updated', { uri: 'fixture://a', version })
    for (let version = 1; version <= 5; version++) await update(version)
    const sum = await settledBooks(windows, 5)
    expect(linesOf(paged(stage))).toHaveLength(2)
    expect(sum('delivered')).toBe(2)
    expect(sum('deduped') + sum('collapsed')).toBe(5 * WINDOWS - 2)
  })

  it('have one limit together, which those that come later go on with', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const windows = await openWindows(stage, source)
    const inbox = () =>
      linesOf(join(stage.scratch.agent, 'loops/inbox.jsonl')).map((line) => JSON.parse(line).text)
    for (let n = 0; n < 12; n++) await source.notify(method('limited'), keyed(`l${n}`))
    const sum = await settledBooks(windows, 12)
    // Which of them is a matter of which window comes first.
    expect(new Set(linesOf(paged(stage))).size).toBe(4)
    expect(linesOf(paged(stage))).toHaveLength(4)
    expect([sum('delivered'), sum('redirected')]).toEqual([4, 8])
    expect(inbox().length).toBeGreaterThan(0)

    for (const pi of windows) await pi.close()
    const later = await stage.start()
    await waitUntil(async () => (await source.control({ do: 'status' })).streams === 1, PATIENCE_MS)
    await source.notify(method('limited'), keyed('later'))
    const laterSum = await settledBooks([later], 1)
    expect([laterSum('delivered'), laterSum('redirected')]).toEqual([0, 1])
    expect(linesOf(paged(stage))).toHaveLength(4)
  })

  it('lose nothing to the end of one of them', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const windows = await openWindows(stage, source, '[options.dedup-window]\nwindow_ms = 4000')
    const keys = Array.from({ length: 60 }, (_, n) => `n${n}`)
    for (const [n, key] of keys.entries()) {
      await source.notify(method('paged'), keyed(key))
      if (n === 15) await windows[0]!.kill('SIGKILL')
      if (n === 30) await windows[1]!.close()
    }
    const all = () => new Set(linesOf(paged(stage)).map((line) => /<(.+)>/.exec(line)?.[1]))
    await waitUntil(
      () => keys.every((key) => all().has(key)),
      PATIENCE_MS,
      () => `${keys.filter((key) => !all().has(key)).join(' ')} to be paged`,
    )
    expect(all()).toEqual(new Set(keys))
  })
})
