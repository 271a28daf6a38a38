import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Pi } from '../../drivers/pi.ts'
import { groupAlive, waitUntil } from '../../drivers/processes.ts'
import {
  connected,
  createStage,
  misbehaving,
  PATIENCE_MS,
  type ServerLog,
  type Stage,
  TAPLINE,
} from '../stage.ts'
import { booksOf, chatHolds, keysInChat, keysTold, startSource } from '../pushes/source.ts'

const RELOAD = `pi.registerCommand('again', { handler: async (_args, ctx) => void (await ctx.reload()) })`

/** The processes of a server that still run, or whose group does. */
const running = (log: ServerLog) => log.pids().filter((pid) => groupAlive(pid))

/** The ways in which one session follows another in the same pi. */
const ways: Record<string, (pi: Pi, first: string) => Promise<unknown>> = {
  '/reload': (pi) => pi.command('/again'),
  new_session: (pi) => pi.send('new_session'),
  switch_session: (pi, first) => pi.send('switch_session', { sessionPath: first }),
}

async function startedWith(stage: Stage): Promise<Pi> {
  const pi = await stage.start({ extensions: [TAPLINE, stage.extension('reload', RELOAD)] })
  await connected(pi, 'raw', 'web')
  return pi
}

describe('the end of a session in the real pi', () => {
  it('ends its servers; the next session has exactly one set of its own', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const log = stage.log('raw')
    stage.json({ raw: misbehaving('--log', log.path) })
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, inject_summary: true } })
    const pi = await startedWith(stage)
    await pi.prompt('A session with a file.')
    const { sessionFile: first } = (await pi.send('get_state')).data
    for (const [way, go] of Object.entries(ways)) {
      const before = running(log)
      expect([way, before.length]).toEqual([way, 1])
      await go(pi, first)
      await connected(pi, 'raw', 'web')
      await waitUntil(() => !groupAlive(before[0]!), PATIENCE_MS, `the server to end after ${way}`)
      expect(running(log)).toHaveLength(1)

      // One listener, one delivery, and books that begin anew.
      const listeners = async () => (await source.control({ do: 'status' })).streams
      await waitUntil(async () => (await listeners()) === 1, PATIENCE_MS, `one listener after ${way}`)
      const shown = keysInChat(pi).length
      await source.push(way.replace('/', ''))
      await chatHolds(pi, shown + 1)
      expect(await booksOf(pi, 'web')).toMatchObject({ received: 1, delivered: 1 })
    }
    expect(keysInChat(pi)).toEqual(['reload', 'new_session', 'switch_session'])
    await pi.close()
    expect(running(log)).toEqual([])
    expect(log.pids()).toHaveLength(4)
    expect(pi.stderr).not.toMatch(/stale|Error/)
  })

  it('keeps its own pushes: a turn that waited is in its transcript and in no other', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.json({ raw: misbehaving() })
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, inject_and_run: true } })
    const pi = await startedWith(stage)
    await pi.prompt('A session with a file.')
    const { sessionFile: first } = (await pi.send('get_state')).data
    const held = pi.send('prompt', { message: 'HOLD on' })
    await stage.model.held('on')
    await source.push('old')
    await waitUntil(async () => (await booksOf(pi, 'web'))['received'] === 1, PATIENCE_MS)
    await pi.send('new_session')
    await held
    await connected(pi, 'raw', 'web')
    await pi.prompt('In the new session.')
    const requests = stage.model.requests()
    expect(keysTold(requests.at(-1)!)).toEqual([])
    await pi.send('switch_session', { sessionPath: first })
    await connected(pi, 'raw', 'web')
    await pi.prompt('Back again.')
    expect(keysTold(stage.model.requests().at(-1)!)).toEqual(['old'])
  })

  it('shows what waits for its window, and starts no turn with it any more', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.json({ raw: misbehaving() })
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, inject_and_run: true } })
    const pi = await startedWith(stage)
    const update = () => source.notify('notifications/resources/updated', { uri: 'fixture://a' })
    await update()
    await pi.waitFor(({ type }) => type === 'agent_settled', PATIENCE_MS, 0)
    await update()
    await waitUntil(async () => (await booksOf(pi, 'web'))['pending'] === 1, PATIENCE_MS)
    const { sessionFile: first } = (await pi.send('get_state')).data
    await pi.send('new_session')
    await connected(pi, 'raw', 'web')
    await pi.send('switch_session', { sessionPath: first })
    const { messages } = (await pi.send('get_messages')).data
    expect(messages.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'custom',
      'assistant',
      'custom',
    ])
    expect(stage.model.requests()).toHaveLength(1)
  })

  it('waits for what a yes to the project’s settings has begun', async () => {
    await using stage = await createStage()
    const written = `${stage.scratch.root}/written`
    const plugin = `
      import { appendFileSync } from 'node:fs'
      const write = (word) => appendFileSync(${JSON.stringify(written)}, word + ' ')
      export default {
        name: 'slow-to-end',
        api: 1,
        setup: () => async () => {
          write('ending')
          await new Promise((resolve) => setTimeout(resolve, 1_000))
          write('ended')
        },
      }`
    stage.scratch.write('agent/slow.mjs', plugin)
    stage.scratch.write('agent/tapline.toml', 'plugins = ["./slow.mjs"]\n')
    stage.scratch.write('project/.pi/tapline.toml', 'naming = "mcp"\n')
    const pi = await stage.start({ onUi: () => 'Use this file' })
    const words = () => (existsSync(written) ? readFileSync(written, 'utf8') : '')
    await waitUntil(() => words() !== '', PATIENCE_MS, 'the first set of plugins to end')
    await pi.close()
    // The second set, if there was time for one, ends as well.
    expect(words().split('ended').length).toBe(words().split('ending').length)
  })
})
