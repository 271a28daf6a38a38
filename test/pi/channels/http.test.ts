import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { textOf } from '../../drivers/chat.ts'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { callTool, connected, createStage, PATIENCE_MS, TAPLINE, toolMessages } from '../stage.ts'
import { consented, consenting, event, settled, SPEAK, SPEAK_AND_APPROVE, tagsIn } from './channel.ts'

const SERVER = fileURLToPath(new URL('../../fixtures/servers/channel-http.mjs', import.meta.url))
const GATE = `
  pi.on('tool_call', async (event, ctx) => {
    if (!(await ctx.ui.confirm('Allow this call?', event.toolName))) return { block: true, reason: 'Blocked' }
  })`

describe('a channel over HTTP, in the real pi', () => {
  it('speaks, is asked about a tool call, and is answered', async () => {
    await using remote = await startHttpFixture(SERVER)
    await using stage = await createStage()
    stage.json({ chat: { type: 'http', url: remote.url, channel: true, exposure: 'direct' } })
    const consent = consenting(SPEAK_AND_APPROVE)
    const pi = await stage.start({
      extensions: [TAPLINE, stage.extension('gate', GATE)],
      // The dialog of the gate stays open here.
      onUi: (request) => (request.method === 'confirm' ? new Promise(() => {}) : consent(request)),
    })
    await connected(pi, 'chat')
    await consented(stage)
    await remote.waitForLog(({ method }) => method === 'GET')
    stage.model.script([
      { toolCalls: [{ name: 'mcp__chat__reply', args: { chat_id: '42', text: 'Yes.' } }] },
      { text: 'Answered.' },
    ])
    await remote.control({ do: 'send', message: event('Is it green?', { message_id: '1' }) })
    const asked = await remote.waitForLog(
      ({ body }) => body?.method === 'notifications/claude/channel/permission_request',
      30_000,
    )
    expect(asked.body.params).toMatchObject({ tool_name: 'mcp__chat__reply' })
    const { request_id } = asked.body.params
    const message = {
      method: 'notifications/claude/channel/permission',
      params: { request_id, behavior: 'allow' },
    }
    await remote.control({ do: 'send', message })
    const [first, second] = await settled(stage, pi, 2)
    expect(tagsIn(first!)).toEqual([expect.stringContaining('>Is it green?</channel>')])
    expect(toolMessages(second!).map(({ content }) => textOf(content))).toEqual(['sent'])
    expect(await remote.control({ do: 'replies' })).toMatchObject({
      replies: [{ chat_id: '42', text: 'Yes.' }],
    })
  })

  it('speaks over the revision of 2026 too, where it may send something of its own', async () => {
    await using remote = await startHttpFixture(servers.modern, ['--http', '--channel'])
    await using stage = await createStage()
    stage.json({ chat: { type: 'http', url: remote.url, channel: true, exposure: 'direct' } })
    const pi = await stage.start({ onUi: consenting(SPEAK) })
    expect(await connected(pi, 'chat')).toContain('2026-07-28 (modern)')
    await consented(stage)
    await callTool(stage, pi, 'mcp__chat__push', event('Hello', { message_id: '1' }))
    const heard = () => stage.model.requests().some((request) => tagsIn(request).length === 1)
    await waitUntil(heard, PATIENCE_MS, 'a turn with the message')
  })
})
