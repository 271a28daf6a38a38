import { describe, expect, it } from 'vitest'
import { preparePi } from '../../drivers/pi-process.ts'
import { startTerminal } from '../../drivers/terminal.ts'
import { createStage, PATIENCE_MS, TAPLINE } from '../stage.ts'
import { channelOn, consented, consentsOf, event, SPEAK_AND_APPROVE } from './channel.ts'

const GATE = `
  pi.on('tool_call', async (event, ctx) => {
    if (!(await ctx.ui.confirm('Allow this call?', event.toolName))) return { block: true, reason: 'Blocked' }
  })`

describe('a channel in the terminal interface of the real pi', () => {
  it('is asked about, speaks, and closes a dialog by its answer', async () => {
    await using stage = await createStage()
    const chat = channelOn(stage, ['--permission', '--instructions', `${'Use reply. '.repeat(100)}The end.`])
    stage.json({ chat: chat.entry })
    stage.scratch.write('project/a.txt', 'the letter A')
    const args = ['-e', TAPLINE, '-e', stage.extension('gate', GATE)]
    await using terminal = await startTerminal({
      ...preparePi({ scratch: stage.scratch, model: stage.model, args }),
      columns: 100,
      rows: 24,
    })
    // All that the consent is about has been seen before it can be given.
    let page = await terminal.waitForScreen(/speak in this conversation/, PATIENCE_MS)
    const pages = [page]
    for (; / → Read on\n {3}Ask again next time\n/.test(page); pages.push(page)) {
      await terminal.key('Enter')
      page = await terminal.waitForScreen(new RegExp(`\\(${pages.length + 1} of \\d+\\)`))
    }
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.join('').replaceAll(/\s+/g, ' ')).toMatch(/system prompt: "Use reply\.[^]* The end\."/)
    expect(page.replaceAll(/\s+/g, ' ')).toContain('it is shown tool calls that wait for your approval')
    expect(page).toMatch(/^ → Ask again next time\n {3}Let it speak\n/m)
    await terminal.key('Down')
    await terminal.key('Down')
    await terminal.waitForScreen(new RegExp(`(?:→|>|❯|›) *${SPEAK_AND_APPROVE}`), PATIENCE_MS)
    await terminal.key('Enter')
    await consented(stage)
    expect(consentsOf(stage).servers.chat).toMatchObject({ speak: true, permission: true })

    stage.model.script([
      { toolCalls: [{ name: 'read', args: { path: 'a.txt' } }] },
      { text: 'I have read it.' },
    ])
    await chat.send(event('Read it, please', { message_id: '1' }))
    const open = await terminal.waitForScreen(/Allow this call\?/, PATIENCE_MS)
    expect(open).toContain('Read it, please')
    const { request_id } = await chat.waitFor('notifications/claude/channel/permission_request')
    await chat.send({
      method: 'notifications/claude/channel/permission',
      params: { request_id, behavior: 'allow' },
    })
    const after = await terminal.waitForScreen(/I have read it\./, PATIENCE_MS)
    expect(after).toContain('Channel "chat" allowed read.')
    expect(after).not.toContain('Allow this call?')
  })
})
