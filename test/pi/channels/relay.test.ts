import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Parsed, toolNames } from '../../drivers/chat.ts'
import type { Pi, UiHandler, UiRequest } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { booksSay } from '../pushes/source.ts'
import { storedRules, writeRules } from '../rules/rules.ts'
import { connected, createStage, PATIENCE_MS, type Stage, TAPLINE, toolMessages } from '../stage.ts'
import { channelOn, type Channel, consented, consenting, SPEAK, SPEAK_AND_APPROVE } from './channel.ts'

const REQUEST = 'notifications/claude/channel/permission_request'
const verdict = (id: unknown, behavior: string) => ({
  method: 'notifications/claude/channel/permission',
  params: { request_id: id, behavior },
})

/** A gate as extensions write it: asks before each call of `read`. */
const confirmGate = `
  pi.on('tool_call', async (event, ctx) => {
    if (event.toolName !== 'read') return
    if (!(await ctx.ui.confirm('Allow read?', 'It reads ' + event.input.path))) return { block: true, reason: 'Blocked by user' }
  })`
const selectGate = `
  pi.on('tool_call', async (event, ctx) => {
    if (event.toolName !== 'read') return
    const choice = await ctx.ui.select('Reads ' + event.input.path + '\\n\\nAllow?', ['Yes', 'Yes, always', 'No'])
    if (choice !== 'Yes') return { block: true, reason: 'Blocked by user: ' + choice }
  })`

/** Dialogs that stay open until the test answers them. */
function openDialogs(): {
  readonly asked: UiRequest[]
  readonly onUi: UiHandler
  answer(value: string | boolean): void
} {
  const asked: UiRequest[] = []
  let resolve: (value: string | boolean) => void = () => {}
  const consent = consenting(SPEAK_AND_APPROVE)
  return {
    asked,
    answer: (value) => resolve(value),
    onUi: (request) => {
      if (request.title?.includes('speak in this conversation')) return consent(request)
      asked.push(request)
      return new Promise((answered) => (resolve = answered))
    },
  }
}

interface Scene {
  readonly pi: Pi
  readonly chat: Channel
  readonly dialogs: ReturnType<typeof openDialogs>
}

async function openScene(
  stage: Stage,
  gate: string,
  { first = false, choice = SPEAK_AND_APPROVE } = {},
): Promise<Scene> {
  stage.scratch.write('project/a.txt', 'the letter A')
  stage.scratch.write('project/b.txt', 'the letter B')
  const chat = channelOn(stage, ['--permission'])
  stage.json({ chat: chat.entry })
  const extension = stage.extension('gate', gate)
  const dialogs = openDialogs()
  const pi = await stage.start({
    extensions: first ? [extension, TAPLINE] : [TAPLINE, extension],
    onUi: choice === SPEAK_AND_APPROVE ? dialogs.onUi : consenting(choice),
  })
  await connected(pi, 'chat')
  await consented(stage)
  return { pi, chat, dialogs }
}

const reads = (...files: string[]) => ({
  toolCalls: files.map((file) => ({ name: 'read', args: { path: file } })),
})

/** What tools answered in the last request. */
const answers = (stage: Stage) =>
  toolMessages(stage.model.requests().at(-1)!).map(({ content }) => JSON.stringify(content))

const auditOf = (stage: Stage): Parsed[] => {
  const file = path.join(stage.scratch.agent, 'loops/triggers-audit.jsonl')
  return (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
    .filter(Boolean)
    .map((line): Parsed => JSON.parse(line))
    .filter(({ type }) => type === 'channel_permission')
}

describe('an approval that is relayed to a channel', () => {
  it('is answered from afar while the dialog is open, and closes it', async () => {
    await using stage = await createStage()
    const { pi, chat, dialogs } = await openScene(stage, confirmGate)
    stage.model.script([reads('a.txt'), { text: 'Read.' }])
    const prompted = pi.prompt('Read it.')
    const request = await chat.waitFor(REQUEST)
    expect(request).toEqual({
      request_id: expect.stringMatching(/^[a-km-z]{5}$/),
      tool_name: 'read',
      description: 'Allow read?\nIt reads a.txt',
      input_preview: '{"path":"a.txt"}',
    })
    await waitUntil(() => dialogs.asked.length === 1, PATIENCE_MS, 'the dialog here')
    // Unknown ids and stray words count for nothing.
    await chat.send(verdict('aaaaa', 'deny'), verdict(request.request_id, 'maybe'))
    await booksSay(pi, 'chat', 'dropped', 1)
    await chat.send(verdict(request.request_id, 'allow'))
    await prompted
    expect(answers(stage)).toEqual([expect.stringContaining('the letter A')])
    expect(pi.notices()).toContain('Channel "chat" allowed read.')
    await waitUntil(() => auditOf(stage).length === 2, PATIENCE_MS, 'the audit trail')
    expect(auditOf(stage)).toMatchObject([
      { state: 'asked', details: { request_id: request.request_id, tool_name: 'read', servers: ['chat'] } },
      { state: 'allow', details: { request_id: request.request_id, server: 'chat' } },
    ])
  })

  it('is answered here first, and what comes from afar later counts for nothing', async () => {
    await using stage = await createStage()
    const { pi, chat, dialogs } = await openScene(stage, confirmGate, { first: true })
    stage.model.script([reads('a.txt'), reads('b.txt'), { text: 'Read.' }])
    const prompted = pi.prompt('Read it.')
    const first = await chat.waitFor(REQUEST)
    await waitUntil(() => dialogs.asked.length === 1, PATIENCE_MS, 'the dialog here')
    dialogs.answer(false)
    const second = await chat.waitFor(REQUEST, ({ request_id }) => request_id !== first.request_id)
    await chat.send(verdict(first.request_id, 'allow'))
    await booksSay(pi, 'chat', 'handled', 1)
    await waitUntil(() => dialogs.asked.length === 2, PATIENCE_MS, 'the second dialog')
    dialogs.answer(true)
    await prompted
    expect(answers(stage)).toEqual([
      expect.stringContaining('Blocked by user'),
      expect.stringContaining('the letter B'),
    ])
    expect(second.input_preview).toBe('{"path":"b.txt"}')
    expect(auditOf(stage).map(({ state }) => state)).toEqual([
      'asked',
      'answered_here',
      'asked',
      'answered_here',
    ])
  })

  it('is denied from afar', async () => {
    await using stage = await createStage()
    const { pi, chat } = await openScene(stage, confirmGate)
    stage.model.script([reads('a.txt'), { text: 'Not read.' }])
    const prompted = pi.prompt('Read it.')
    const { request_id } = await chat.waitFor(REQUEST)
    await chat.send(verdict(request_id, 'deny'))
    await prompted
    expect(answers(stage)).toEqual([expect.stringContaining('Blocked by user')])
  })

  it('may be a list with a plain yes and no; the other choices are for here alone', async () => {
    await using stage = await createStage()
    const { pi, chat } = await openScene(stage, selectGate)
    stage.model.script([reads('a.txt'), reads('b.txt'), { text: 'Read.' }])
    const prompted = pi.prompt('Read both.')
    const first = await chat.waitFor(REQUEST)
    expect(first.description).toBe('Reads a.txt\n\nAllow?')
    await chat.send(verdict(first.request_id, 'allow'))
    const second = await chat.waitFor(REQUEST, ({ request_id }) => request_id !== first.request_id)
    await chat.send(verdict(second.request_id, 'deny'))
    await prompted
    expect(answers(stage)).toEqual([
      expect.stringContaining('the letter A'),
      expect.stringContaining('Blocked by user: No'),
    ])
  })

  it.each([
    { place: 'before Tapline', first: true, preview: '{"path":"b.txt"}' },
    // The last one of several may already run, as those before it.
    { place: 'after Tapline', first: false, preview: '[{"path":"a.txt"},{"path":"b.txt"}]' },
  ])('names the call that it is about, of several, with a gate $place', async ({ first, preview }) => {
    await using stage = await createStage()
    const { pi, chat } = await openScene(stage, confirmGate, { first })
    stage.model.script([reads('a.txt', 'b.txt'), { text: 'Read.' }])
    const prompted = pi.prompt('Read both.')
    const one = await chat.waitFor(REQUEST)
    expect(one).toMatchObject({ tool_name: 'read', input_preview: '{"path":"a.txt"}' })
    await chat.send(verdict(one.request_id, 'allow'))
    const two = await chat.waitFor(REQUEST, ({ request_id }) => request_id !== one.request_id)
    expect(two).toMatchObject({
      tool_name: 'read',
      description: 'Allow read?\nIt reads b.txt',
      input_preview: preview,
    })
    await chat.send(verdict(two.request_id, 'deny'))
    await prompted
    expect(answers(stage)).toEqual([
      expect.stringContaining('the letter A'),
      expect.stringContaining('Blocked by user'),
    ])
  })

  it('has no secrets in what is shown of it', async () => {
    await using stage = await createStage()
    const { pi, chat } = await openScene(stage, confirmGate)
    stage.model.script([reads('a.txt?token=s3cr3t-value-of-mine'), { text: 'No.' }])
    const prompted = pi.prompt('Read it.')
    const request = await chat.waitFor(REQUEST)
    await chat.send(verdict(request.request_id, 'deny'))
    await prompted
    expect(JSON.stringify(request)).not.toContain('s3cr3t')
    expect(request.input_preview).toContain('[REDACTED:secret]')
  })
})

describe('a dialog that is not relayed', () => {
  it('is one of a channel that may speak and not approve', async () => {
    await using stage = await createStage()
    const { pi, chat } = await openScene(stage, confirmGate, { choice: SPEAK })
    stage.model.script([reads('a.txt'), { text: 'Not read.' }])
    await pi.prompt('Read it.')
    expect(answers(stage)).toEqual([expect.stringContaining('Blocked by user')])
    expect(chat.received(REQUEST)).toEqual([])
  })

  it('is one of a command of Tapline, also while a tool call waits', async () => {
    await using stage = await createStage()
    writeRules(stage, { condition: 'one' }, { condition: 'two' })
    const { pi, chat, dialogs } = await openScene(stage, confirmGate)
    stage.model.script([reads('a.txt'), { text: 'Read.' }])
    const prompted = pi.prompt('Read it.')
    const request = await chat.waitFor(REQUEST)
    await waitUntil(() => dialogs.asked.length === 1, PATIENCE_MS, 'the dialog of the gate')
    const removed = pi.send('prompt', { message: '/triggers remove --all' })
    removed.catch(() => undefined)
    await waitUntil(() => dialogs.asked.length === 2, PATIENCE_MS, 'the dialog of the command')
    expect(dialogs.asked[1]!.title).toContain('Remove 2 rules')
    await chat.send(verdict(request.request_id, 'allow'))
    await waitUntil(() => stage.model.requests().length === 2, PATIENCE_MS, 'the call to go on')
    expect(chat.received(REQUEST)).toHaveLength(1)
    expect(storedRules(stage)).toHaveLength(2)
    dialogs.answer(true)
    await removed
    await prompted
    await waitUntil(() => storedRules(stage).length === 0, PATIENCE_MS, 'the rules to be gone')
  })

  it('is one that no tool call waits for, and the question about the channel itself', async () => {
    await using stage = await createStage()
    const gate = `${confirmGate}
      pi.registerCommand('wipe', { handler: async (_args, ctx) => ctx.ui.notify('wiped: ' + (await ctx.ui.confirm('Wipe?', 'All of it')), 'info') })`
    const { pi, chat, dialogs } = await openScene(stage, gate)
    const wiped = pi.command('/wipe')
    await waitUntil(() => dialogs.asked.length === 1, PATIENCE_MS, 'the dialog')
    dialogs.answer(true)
    expect(await wiped).toContain('wiped: true')
    // The channel is still there to be asked.
    stage.model.script([reads('a.txt'), { text: 'Read.' }])
    const prompted = pi.prompt('Read it.')
    const request = await chat.waitFor(REQUEST)
    await chat.send(verdict(request.request_id, 'allow'))
    await prompted
    expect(chat.received(REQUEST)).toHaveLength(1)
    expect(toolNames(stage.model.requests()[0]!)).toContain('read')
  })
})
