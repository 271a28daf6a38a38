import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Parsed } from '../../drivers/chat.ts'
import { servers } from '../../drivers/fixtures.ts'
import { processesNaming, waitUntil } from '../../drivers/processes.ts'
import { createScratch, type Scratch } from '../../drivers/scratch.ts'
import { runTapline, startTapline, stdioEntry } from '../tapline.ts'

const SERVER = fileURLToPath(new URL('../../fixtures/servers/channel.mjs', import.meta.url))

/** A scratch directory whose server `chat` is the channel fixture. */
function withChannel(scratch: Scratch, flags: readonly string[] = [], entry: object = {}) {
  const directory = path.join(scratch.root, 'channel')
  const chat = { ...stdioEntry(SERVER, '--dir', directory, ...flags), ...entry }
  scratch.write('agent/mcp.json', { mcpServers: { chat, notify: stdioEntry(servers.notify) } })
  const port = () => {
    const running = new Set(processesNaming(directory).map(({ pid }) => `${pid}.port`))
    const files = existsSync(directory) ? readdirSync(directory) : []
    const file = files.find((name) => running.has(name))
    return file === undefined ? undefined : readFileSync(path.join(directory, file), 'utf8') || undefined
  }
  return {
    /** Sends notifications from the server once it runs. */
    async send(...messages: readonly object[]) {
      const found = await waitUntil(port, 20_000, 'the channel to listen')
      await fetch(`http://127.0.0.1:${found}/`, { method: 'POST', body: JSON.stringify(messages) })
    },
    received: () =>
      readFileSync(path.join(directory, 'log.jsonl'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line): Parsed => JSON.parse(line).message),
  }
}

const event = (params: object) => ({ method: 'notifications/claude/channel', params })
const HELLO = event({
  content: 'Hello <b>',
  meta: { chat_id: '42', message_id: '7', user: 'alice', 'no-good': 'x' },
})

describe('tapline channel test', () => {
  it('prints each step, shows the event as the model reads it, and answers with the tool that is named', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const flags = ['--permission', '--instructions', 'Use reply.\nPass chat_id back.']
    const chat = withChannel(scratch, flags, { channel: true })
    const running = startTapline(['channel', 'test', 'chat', '--reply', 'reply'], { scratch })
    await waitUntil(
      () => running.stdout.includes('· waiting'),
      20_000,
      () => running.stdout + running.stderr,
    )
    await chat.send(HELLO)
    expect(await running.exited).toEqual({ code: 0, signal: null })
    expect(running.stderr).toBe('')
    expect(running.stdout).toBe(`✓ connected    over stdio, protocol 2025-11-25, "channel" 1.0.0
✓ channel      declares experimental "claude/channel"
· permission   declares "claude/channel/permission": it can be asked about tool calls
· instructions Use reply.
               Pass chat_id back.
· tools        reply
· opt-in       its entry says channel = true: pi asks once whether it may speak
· waiting      for an event, 60 s: send one now
✓ event        as the model reads it, where it may speak:
<channel source="chat" chat_id="42" message_id="7" user="alice">Hello &lt;b></channel>
· meta         left out of meta: no-good (names are letters, digits and underscores, values texts; "source" is the configured name)
✓ reply        reply {"chat_id":"42","text":"Received by \\"tapline channel test\\"."}: sent to 42
`)
    expect(chat.received().filter(({ method }) => method === 'tools/call')).toMatchObject([
      { params: { name: 'reply', arguments: { chat_id: '42' } } },
    ])
    expect(processesNaming(scratch.root)).toEqual([])
  })

  it('prints JSON lines, waits through what is no event, and calls nothing unasked', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const chat = withChannel(scratch)
    const running = startTapline(['channel', 'test', 'chat', '--json', '--for', '30'], { scratch })
    await waitUntil(
      () => running.stdout.includes('"waiting"'),
      20_000,
      () => running.stdout + running.stderr,
    )
    await chat.send(event({ text: 'Hello' }), { method: 'notifications/other' }, event({ content: 'Hello' }))
    expect(await running.exited).toEqual({ code: 0, signal: null })
    const steps = running.stdout
      .split('\n')
      .filter(Boolean)
      .map((line): Parsed => JSON.parse(line))
    expect(steps.map(({ step, ok }) => [step, ok])).toEqual([
      ['connected', true],
      ['channel', true],
      ['permission', undefined],
      ['instructions', undefined],
      ['tools', undefined],
      ['opt-in', undefined],
      ['waiting', undefined],
      ['event', false],
      ['event', true],
      ['key', undefined],
    ])
    expect(steps[5]).toMatchObject({ channel: false, text: expect.stringContaining('goes to the inbox') })
    expect(steps[7].text).toBe(
      'dropped notifications/claude/channel: "content" must be a text, and is missing',
    )
    expect(steps[8]).toMatchObject({
      whole: '<channel source="chat">Hello</channel>',
      key: expect.stringMatching(/^channel:chat:hash:/),
      attributes: {},
    })
    expect(chat.received().filter(({ method }) => method === 'tools/call')).toEqual([])
  })

  it('prints nothing of a server that steers a terminal', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const hostile = '\u001b[2J\u001b]0;title\u0007\u202e\u0085'
    const chat = withChannel(scratch, ['--tool', `x${hostile}\ny`, '--instructions', `Use${hostile} it.`])
    const running = startTapline(['channel', 'test', 'chat', '--reply', 'nothing'], { scratch })
    await waitUntil(
      () => running.stdout.includes('· waiting'),
      20_000,
      () => running.stdout + running.stderr,
    )
    const meta = { user: `a${hostile}"b`, [`k${hostile}`]: 'v' }
    await chat.send(event({ content: `Hello${hostile}</channel>`, meta }))
    expect(await running.exited).toEqual({ code: 1, signal: null })
    expect(running.stdout).toContain('· tools        reply, x y\n')
    expect(running.stdout).toContain('it has: reply, x y\n')
    expect(running.stdout).toContain('<channel source="chat" user="a&quot;b">Hello&lt;/channel></channel>\n')
    // oxlint-disable-next-line no-control-regex -- that is what must not be there.
    expect(running.stdout + running.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  it('exits with 1 when the server is no channel, when nothing comes, and when there is no such tool', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const chat = withChannel(scratch)
    const no = await runTapline(['channel', 'test', 'notify'], { scratch })
    expect([no.code, no.stderr]).toEqual([1, ''])
    expect(no.stdout).toContain('✗ channel      does not declare "experimental": { "claude/channel": {} }')
    const silent = await runTapline(['channel', 'test', 'chat', '--for', '0.3'], { scratch })
    expect(silent.code).toBe(1)
    expect(silent.stdout).toContain('✗ event        none came within 0.3 s')
    const running = startTapline(['channel', 'test', 'chat', '--reply', 'shout', '{"text":"x"}'], { scratch })
    await waitUntil(
      () => running.stdout.includes('· waiting'),
      20_000,
      () => running.stdout + running.stderr,
    )
    await chat.send(HELLO)
    expect(await running.exited).toEqual({ code: 1, signal: null })
    expect(running.stdout).toContain('✗ reply        it has no tool "shout"; it has: reply')
  })

  it('exits with 2 and says why when it cannot begin', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: { gone: { command: path.join(scratch.root, 'missing') } } })
    const gone = await runTapline(['channel', 'test', 'gone'], { scratch })
    expect(gone.code).toBe(2)
    expect(gone.stdout).toMatch(/^✗ connected {4}.*missing/)
    const refused = [
      [['channel'], 'Usage: tapline channel test <server>'],
      [['channel', 'list'], 'Usage: tapline channel test <server>'],
      [['channel', 'test', 'gone', '{}'], 'Usage: tapline channel test <server>'],
      [['channel', 'test', 'nobody'], 'No server is named "nobody". Configured: gone.'],
      [['channel', 'test', 'gone', '--reply', 'x', '{'], 'The arguments are not JSON'],
      [['channel', 'test', 'gone', '--reply', 'x', '[]'], 'The arguments must be a JSON object.'],
    ] as const
    for (const [args, words] of refused) {
      const run = await runTapline([...args], { scratch })
      expect([run.code, run.stdout]).toEqual([2, ''])
      expect(run.stderr).toContain(words)
    }
  })
})
