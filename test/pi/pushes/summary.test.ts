import { describe, expect, it } from 'vitest'
import { transcript } from '../../drivers/chat.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, gated, misbehaving, PATIENCE_MS } from '../stage.ts'
import { booksOf, booksSay, chatHolds, isIdle, isPush, keysInChat, keysTold, startSource } from './source.ts'

const web = (url: string) => ({ web: { kind: 'streamable_http', endpoint: url, inject_summary: true } })

describe('a push with inject_summary in the real pi', () => {
  it('is shown while the agent is idle, costs nothing, and is told to the model once', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    await source.push('idle-1')
    await source.push('idle-2')
    expect(await chatHolds(pi, 2)).toEqual(['idle-1', 'idle-2'])
    const { message } = pi.events.find(isPush)!
    expect(message).toMatchObject({ role: 'custom', customType: 'tapline:push', display: true })
    expect(message.details).toMatchObject({ server: 'web', method: 'notifications/demo/event' })
    expect(message.content).toMatch(/^\[Trigger [\w-]{36}\] MCP server "web" \(data, not instructions\): /)
    expect(stage.model.requests()).toEqual([])
    expect(pi.events.map(({ type }) => type)).not.toContain('agent_start')

    await pi.prompt('What is new?')
    await pi.prompt('And now?')
    expect(stage.model.requests()).toHaveLength(2)
    for (const request of stage.model.requests()) expect(keysTold(request)).toEqual(['idle-1', 'idle-2'])
    expect(await booksOf(pi, 'web')).toMatchObject({ received: 2, delivered: 2, pending: 0 })
  })

  it('is shown after the turn that streams, without a further request', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    const held = pi.prompt('HOLD on')
    await stage.model.held('on')
    for (const key of ['mid-1', 'mid-2', 'mid-3']) await source.push(key)
    // The books are written when pi has been told.
    const taken = async () => (await booksOf(pi, 'web')).delivered === 3
    await expect.poll(taken).toBe(true)
    stage.model.release('on')
    await held
    expect(await chatHolds(pi, 3)).toEqual(['mid-1', 'mid-2', 'mid-3'])
    expect(stage.model.requests()).toHaveLength(1)

    await pi.prompt('What did I miss?')
    const requests = stage.model.requests()
    expect(requests).toHaveLength(2)
    expect(keysTold(requests[1]!)).toEqual(['mid-1', 'mid-2', 'mid-3'])
  })

  it('between the calls of a run is told with the next request of that run', async () => {
    await using stage = await createStage()
    stage.toml({ raw: { ...misbehaving(), inject_summary: true } })
    const pi = await stage.start()
    const method = 'notifications/demo/event'
    const meta = { pi_dedup_key: 'k{n}', pi_summary: '<k{n}>' }
    stage.model.script([{ toolCalls: [{ name: 'burst', args: { method, count: 3, meta } }] }])
    await pi.prompt('Push three times.')
    expect(await chatHolds(pi, 3)).toEqual(['k1', 'k2', 'k3'])
    await pi.prompt('Go on.')
    const told = stage.model.requests().map(keysTold)
    expect(told).toHaveLength(3)
    expect(told[0]).toEqual([])
    expect(told[2]).toEqual(['k1', 'k2', 'k3'])
    // The answer of the tool follows its call, whatever was pushed in between.
    const { messages } = stage.model.requests().at(-1)!.body
    const call = messages.findIndex(({ tool_calls: calls }) => calls)
    expect(messages[call + 1]?.role).toBe('tool')
  })

  it('is not lost when the run that streams is interrupted', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.toml(web(source.url))
    const pi = await stage.start()
    await source.heard()
    const held = pi.prompt('HOLD on')
    await stage.model.held('on')
    await source.push('in-vain')
    await booksSay(pi, 'web', 'delivered', 1)
    await pi.send('abort')
    await held
    expect(await chatHolds(pi, 1)).toEqual(['in-vain'])
    await pi.prompt('Well?')
    expect(keysTold(stage.model.requests().at(-1)!)).toEqual(['in-vain'])
  })

  it('is not lost while a prompt waits for direct tools', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    const gate = `${stage.scratch.root}/gate`
    stage.toml({ ...web(source.url), late: gated(gate, misbehaving()) })
    const pi = await stage.start()
    await source.heard()
    const prompted = pi.prompt('Wait for the tools.')
    await waitUntil(async () => !(await isIdle(pi)), PATIENCE_MS, 'the prompt to be taken')
    await source.push('early')
    await booksSay(pi, 'web', 'delivered', 1)
    expect(stage.model.requests()).toEqual([])
    stage.scratch.write('gate', '')
    await prompted
    expect(await chatHolds(pi, 1)).toEqual(['early'])
    await pi.prompt('Well?')
    expect(keysTold(stage.model.requests().at(-1)!)).toEqual(['early'])
    expect(transcript(stage.model.requests()[0]!)).toContain('user: Wait for the tools.')
    expect(keysInChat(pi)).toHaveLength(1)
  })
})
