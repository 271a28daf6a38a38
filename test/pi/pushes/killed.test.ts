import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, PATIENCE_MS, type Stage } from '../stage.ts'
import { booksSay, chatHolds, isIdle, startSource } from './source.ts'

const web = (url: string) => ({ web: { kind: 'streamable_http', endpoint: url, inject_and_run: true } })

/** What the inbox holds, in order. */
function findings(stage: Stage): string[] {
  const path = join(stage.scratch.agent, 'loops/inbox.jsonl')
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as { text: string }).text)
}

function inboxHolds(stage: Stage, count: number): Promise<string[]> {
  const enough = () => (findings(stage).length >= count ? findings(stage) : undefined)
  return waitUntil(enough, PATIENCE_MS, `${count} findings in the inbox`)
}

const claims = (stage: Stage) => readFileSync(join(stage.scratch.agent, 'loops/dedup.json'), 'utf8')
const journals = (stage: Stage): string[] =>
  readdirSync(join(stage.scratch.agent, 'loops/tapline-turns')).filter((name) => name.endsWith('.jsonl'))

// Most of the time they wait.
describe.concurrent('a window that is killed', () => {
  it('leaves to the next what waited in it for a turn, and what had one', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    stage.model.script([{ text: 'done with it' }, { text: 'I am on it', hold: 'second' }])
    await source.push('first')
    await waitUntil(async () => stage.model.requests().length === 1 && (await isIdle(pi)), PATIENCE_MS)
    await source.push('second')
    await stage.model.held('second')
    for (const key of ['third', 'fourth']) await source.push(key)
    await booksSay(pi, 'web', 'received', 4)
    expect(journals(stage)).toHaveLength(1)
    await pi.kill('SIGKILL')

    const next = await stage.start()
    const left = await inboxHolds(stage, 3)
    expect(left).toEqual(
      ['second', 'third', 'fourth'].map((key) =>
        expect.stringMatching(new RegExp(`<${key}>.*killed before the end of that`)),
      ),
    )
    await waitUntil(() => journals(stage).length === 0, PATIENCE_MS, 'the journal to be removed')
    expect((await next.command('/inbox')).join('\n')).toContain('<fourth>')
  })

  it('leaves it to another that is open, once', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const push = { 'notifications/demo/event': { policy: 'run', windows: 'owner' } }
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, push } })
    const windows = [await stage.start(), await stage.start(), await stage.start()]
    const all = async () => (await source.control({ do: 'status' })).streams === windows.length
    await waitUntil(all, PATIENCE_MS, 'all windows to listen')
    stage.model.script([{ text: 'I am on it', hold: 'it' }])
    await source.push('only')
    await stage.model.held('it')
    // A window that is killed before it has written that it delivered gives the event to the next.
    const delivered = () => !claims(stage).includes('"pending"')
    await waitUntil(delivered, PATIENCE_MS, 'the claim to be settled')
    const busy = async () => Promise.all(windows.map(isIdle))
    const [taker] = (await busy()).flatMap((idle, n) => (idle ? [] : [windows[n]!]))
    await taker!.kill('SIGKILL')
    expect(await inboxHolds(stage, 1)).toHaveLength(1)
    await waitUntil(() => journals(stage).length === 0, PATIENCE_MS, 'the journal to be removed')
    expect(findings(stage)).toHaveLength(1)
    expect(stage.model.requests()).toHaveLength(1)
  })

  it('has nothing to leave when it ended in order', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    stage.model.script([{ text: 'I am on it', hold: 'first' }])
    await source.push('first')
    await stage.model.held('first')
    await source.push('second')
    await booksSay(pi, 'web', 'received', 2)
    expect(journals(stage)).toHaveLength(1)
    stage.model.release('first')
    await chatHolds(pi, 2)
    await waitUntil(() => isIdle(pi), PATIENCE_MS)
    await waitUntil(() => journals(stage).length === 0, PATIENCE_MS, 'the journal to be removed')
    await pi.close()
    expect(journals(stage)).toEqual([])
  })
})
