import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { callTool, connected, createStage, misbehaving, noticed, toolAnswer, toolMessages } from '../stage.ts'

describe('a tool call in the real pi', () => {
  it('shows its progress, which resets the timeout; without progress it is given up and cancelled', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.toml({ server: { ...misbehaving('--log', log.path), request_timeout_ms: 3_000 } })
    const pi = await stage.start()
    await connected(pi, 'server')
    const lively = { name: 'slow', args: { ms: 5_000, progressEveryMs: 500 }, id: 'lively' }
    const mute = { name: 'slow', args: { ms: 60_000 }, id: 'mute' }
    stage.model.script([{ toolCalls: [lively, mute] }])
    await pi.prompt('Take your time.')

    const answers = toolMessages(stage.model.requests().at(-1)!).map(({ content }) => content)
    expect(answers).toEqual(['slept 5000 ms', expect.stringContaining('was not answered within 3 s')])
    const updates = pi.events.filter(({ type }) => type === 'tool_execution_update')
    const shown = updates.map(({ toolCallId, partialResult }) => [toolCallId, partialResult.content[0].text])
    // The last one is written together with the answer and is heard before it.
    expect(shown.slice(0, 2)).toEqual([
      ['lively', 'step 1'],
      ['lively', 'step 2'],
    ])
    expect(shown.length).toBeGreaterThanOrEqual(9)
    const call = await log.waitFor(({ message }) => message?.params?.arguments?.ms === 60_000)
    await log.waitFor(({ event, id }) => event === 'cancelled' && id === call.message.id)
  })

  it('that is interrupted over stdio is cancelled at the server, which lives on', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.toml({ server: misbehaving('--log', log.path) })
    const pi = await stage.start()
    await connected(pi, 'server')
    stage.model.script([{ toolCalls: [{ name: 'slow', args: { ms: 60_000 } }] }])
    const interrupted = pi.prompt('Sleep.')
    const call = await log.waitFor(({ message }) => message?.method === 'tools/call')
    expect((await pi.send('abort')).success).toBe(true)
    await interrupted

    const cancelled = await log.waitFor(({ message }) => message?.method === 'notifications/cancelled')
    expect(cancelled.message.params.requestId).toBe(call.message.id)
    await log.waitFor(({ event }) => event === 'cancelled')
    const end = pi.events.find(({ type }) => type === 'tool_execution_end')
    expect(end).toMatchObject({ isError: true, result: { content: [{ text: 'cancelled' }] } })
    expect(toolAnswer(await callTool(stage, pi, 'echo', { text: 'still here' }))).toBe('still here')
    expect(log.pids()).toHaveLength(1)
  })

  it('that is interrupted over HTTP is cancelled at the server', async () => {
    await using http = await startHttpFixture(servers.httpMisbehaving)
    await using stage = await createStage()
    stage.json({ web: { url: http.url, exposure: 'direct' } })
    const pi = await stage.start()
    await connected(pi, 'web')
    stage.model.script([{ toolCalls: [{ name: 'mcp__web__slow', args: { ms: 60_000 } }] }])
    const interrupted = pi.prompt('Sleep.')
    const call = await http.waitForLog(({ body }) => body?.method === 'tools/call')
    await pi.send('abort')
    await interrupted
    const cancelled = await http.waitForLog(({ body }) => body?.method === 'notifications/cancelled')
    expect(cancelled.body.params.requestId).toBe(call.body.id)
    expect(toolAnswer(await callTool(stage, pi, 'mcp__web__echo', { text: 'again' }))).toBe('again')
  })

  it('fails at once when its server dies, with what it last said, and the next call finds it restarted', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.toml({ server: misbehaving('--log', log.path), other: misbehaving('--name', 'other') })
    const pi = await stage.start()
    await connected(pi, 'server', 'other')
    const [first] = log.pids()
    stage.model.script([
      {
        toolCalls: [
          { name: 'slow', args: { ms: 60_000 } },
          { name: 'crash' },
          { name: 'other_echo', args: { text: 'not concerned' } },
        ],
      },
    ])
    await pi.prompt('Crash it.')
    const [slow, crash, other] = toolMessages(stage.model.requests().at(-1)!).map(({ content }) => content)
    for (const answer of [slow, crash]) {
      expect(answer).toContain('server exited with code 1')
      expect(answer).toContain('crashing on purpose')
    }
    expect(other).toBe('not concerned')
    expect(toolAnswer(await callTool(stage, pi, 'echo', { text: 'back' }))).toBe('back')
    expect(log.pids()).toEqual([first, expect.any(Number)])
    expect(await noticed(pi, /server exited with code 1/)).toMatch(/^mcp server 'server' failed: /)
    // What has passed is no problem any more.
    expect(await connected(pi, 'server')).not.toMatch(/failed|exited/)
    // The crashed calls were not sent again: they may have had their effect.
    const calls = log.entries().filter(({ message }) => message?.method === 'tools/call')
    expect(calls.map(({ message }) => message.params.name)).toEqual(['slow', 'crash', 'echo'])
  })
})
