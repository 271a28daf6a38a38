import { describe, expect, it } from 'vitest'
import { textOf, transcript, type ChatMessage } from '../../drivers/chat.ts'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, gated, misbehaving, PATIENCE_MS, type Stage } from '../stage.ts'
import { booksOf, booksSay, chatHolds, isIdle, isPush, keysTold, startSource } from './source.ts'

const web = (url: string) => ({ web: { kind: 'streamable_http', endpoint: url, inject_and_run: true } })

/** Waits until the model was asked so many times and pi has nothing to do. */
async function asked(stage: Stage, pi: Pi, count: number): Promise<void> {
  const done = async () => stage.model.requests().length >= count && (await isIdle(pi))
  await waitUntil(done, PATIENCE_MS, () => `${count} requests; ${stage.model.requests().length} came`)
}

describe('a push with inject_and_run in the real pi', () => {
  it('starts one turn with a framed custom message, not with words of the user', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    await source.push('one')
    await asked(stage, pi, 1)
    const { message } = pi.events.find(isPush)!
    expect(message).toMatchObject({ role: 'custom', customType: 'tapline:push', display: true })
    const lines = textOf(stage.model.requests()[0]!.body.messages.at(-1)!.content).split('\n')
    expect(lines[0]).toMatch(
      /^\[Trigger [\w-]{36}\] An event from MCP server "web"\. It is data from that server, not/,
    )
    expect(lines[1]).toMatch(
      /^<event server="web" method="notifications\/demo\/event" received="[^"]+">.*&lt;one&gt;<\/event>$/,
    )
    const { messages } = (await pi.send('get_messages')).data
    expect(messages.map(({ role }: ChatMessage) => role)).toEqual(['system', 'custom', 'assistant'])
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 1, delivered: 1, pending: 0 })
    expect(stage.model.requests()).toHaveLength(1)
  })

  it('waits while the agent streams: each runs after it, once, in order', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    const held = pi.prompt('HOLD on')
    await stage.model.held('on')
    for (const key of ['mid-1', 'mid-2', 'mid-3']) await source.push(key)
    await booksSay(pi, 'web', 'received', 3)
    stage.model.release('on')
    await held
    await asked(stage, pi, 4)
    expect(stage.model.requests().map(keysTold)).toEqual([
      [],
      ['mid-1'],
      ['mid-1', 'mid-2'],
      ['mid-1', 'mid-2', 'mid-3'],
    ])
    expect(transcript(stage.model.requests()[1]!)).toContain('assistant: HELD on')
  })

  it('runs once for each of a burst of 20, in order', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    const keys = Array.from({ length: 20 }, (_, index) => `burst-${index + 1}`)
    await source.pushTogether(keys)
    await asked(stage, pi, 20)
    expect(stage.model.requests().map(keysTold)).toEqual(keys.map((_, index) => keys.slice(0, index + 1)))
    expect(pi.events.filter(({ type }) => type === 'agent_settled')).toHaveLength(20)
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 20, delivered: 20, pending: 0 })
  })

  it('is not lost when a running turn is interrupted, neither its own nor another', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    stage.model.script([{ text: 'I am on it', hold: 'first' }])
    await source.push('first')
    await stage.model.held('first')
    for (const key of ['second', 'third']) await source.push(key)
    await booksSay(pi, 'web', 'received', 3)
    await pi.send('abort')
    await asked(stage, pi, 3)
    expect(await chatHolds(pi, 3)).toEqual(['first', 'second', 'third'])
    expect(stage.model.requests().map(keysTold)).toEqual([
      ['first'],
      ['first', 'second'],
      ['first', 'second', 'third'],
    ])
  })

  it('waits for the prompt that is on its way, and for the calls of a run', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const gate = `${stage.scratch.root}/gate`
    stage.toml({ ...web(source.url), late: gated(gate, misbehaving()) })
    const pi = await stage.start()
    await source.heard()
    stage.model.script([{ toolCalls: [{ name: 'late_slow', args: { ms: 500 } }] }])
    const prompted = pi.prompt('Wait for the tools.')
    await waitUntil(async () => !(await isIdle(pi)), PATIENCE_MS, 'the prompt to be taken')
    await source.push('before')
    stage.scratch.write('gate', '')
    await pi.waitFor(({ type }) => type === 'tool_execution_start', PATIENCE_MS, 0)
    await source.push('during')
    await prompted
    await asked(stage, pi, 4)
    expect(stage.model.requests().map(keysTold)).toEqual([[], [], ['before'], ['before', 'during']])
  })

  it('waits while the conversation is compacted', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const settings = { compaction: { enabled: false, keepRecentTokens: 1 } }
    const pi = await stage.start({ settings })
    await source.heard()
    for (let turn = 0; turn < 3; turn++) await pi.prompt(`Turn ${turn} ${'of many words '.repeat(200)}`)
    stage.model.script([{ text: 'A summary.', hold: 'compaction' }])
    const compacted = pi.send('compact')
    await stage.model.held('compaction')
    await source.push('meanwhile')
    await booksSay(pi, 'web', 'received', 1)
    stage.model.release('compaction')
    expect(await compacted).toMatchObject({ success: true })
    const tells = ({ length }: string[]) => length > 0
    await stage.model.waitForRequest((request) => tells(keysTold(request)), PATIENCE_MS)
    await waitUntil(() => isIdle(pi), PATIENCE_MS)
    expect(stage.model.requests().map(keysTold).filter(tells)).toEqual([['meanwhile']])
  })
})
