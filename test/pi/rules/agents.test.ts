import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { textOf, toolNames, transcript } from '../../drivers/chat.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { connected, createStage, misbehaving, noticed, PATIENCE_MS, toolAnswer } from '../stage.ts'
import { ANSWER_USD, createPricedStage, startProbed } from './sub-agents.ts'

const READ_ONLY = ['read', 'grep', 'find', 'ls']

describe('a sub-agent in the real pi', () => {
  it('works with read-only tools, the task’s own, and the live servers of the session', async () => {
    await using stage = await createStage()
    const log = stage.log('raw')
    stage.toml({ raw: misbehaving('--log', log.path) })
    const probed = await startProbed(stage)
    await connected(probed.pi, 'raw')
    stage.scratch.write('project/note.txt', 'the answer is 42\n')
    stage.model.script([
      {
        toolCalls: [
          { name: 'read', args: { path: 'note.txt' } },
          { name: 'echo', args: { text: 'shared' } },
          { name: 'report', args: { ids: ['a', 'b'] } },
        ],
      },
      { text: 'all done' },
    ])
    const outcome = await probed.run({ prompt: 'Look at the note.' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'all done', costUsd: 0 })
    expect(outcome.error).toBeUndefined()

    const [first, second] = stage.model.requests()
    const names = toolNames(first!)
    expect(names.filter((name) => READ_ONLY.includes(name))).toEqual(READ_ONLY)
    expect(names).toEqual(expect.arrayContaining(['report', 'echo']))
    for (const name of [
      'bash',
      'powershell',
      'edit',
      'write',
      'codemode',
      'new_trigger',
      'set_trigger_state',
    ])
      expect(names).not.toContain(name)
    expect(textOf(first!.body.messages.at(-1)!.content)).toBe('Look at the note.')
    expect(transcript(first!)).toContain('background agent')
    expect(transcript(first!)).not.toContain('expert coding assistant')
    const answers = second!.body.messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => textOf(content))
    expect(answers).toEqual([expect.stringContaining('the answer is 42'), 'shared', 'noted a,b'])

    // The session's own connection was used, and the chat knows nothing of it.
    expect(log.pids()).toHaveLength(1)
    expect(log.count('initialize')).toBe(1)
    expect(
      (await probed.pi.send('get_messages')).data.messages.map(({ role }: { role: string }) => role),
    ).not.toContain('user')
    const kept = readFileSync(outcome.transcript!, 'utf8')
    expect(path.dirname(outcome.transcript!)).toBe(probed.transcripts)
    expect(kept).toContain('Look at the note.')
    expect(kept).toContain('all done')
  })

  it('may not call what it was not given, and reads why a tool of the task has failed', async () => {
    await using stage = await createStage()
    const probed = await startProbed(stage)
    stage.model.script([
      { toolCalls: [{ name: 'bash', args: { command: 'touch broken' } }] },
      { toolCalls: [{ name: 'write', args: { path: 'broken', content: '' } }] },
      { toolCalls: [{ name: 'report', args: { ids: [] } }] },
      { text: 'gave up' },
    ])
    expect(await probed.run({ prompt: 'Break something.' })).toMatchObject({
      status: 'completed',
      text: 'gave up',
    })
    const answers = stage.model.requests().slice(1).map(toolAnswer)
    expect(answers).toEqual(['Tool bash not found', 'Tool write not found', 'report needs an id'])
    expect(readdirSync(stage.scratch.project)).not.toContain('broken')
  })

  it('uses the model and thinking level of its task, else those of the session', async () => {
    await using stage = await createStage()
    const models = ['fake-1', 'org/fake-2'].map((id) => ({
      id,
      contextWindow: 128_000,
      maxTokens: 4096,
      input: ['text'],
    }))
    const fake = { api: 'openai-completions', apiKey: 'sk-not-real', baseUrl: stage.model.url, models }
    const probed = await startProbed(stage, { models: { fake } })
    await probed.run({ prompt: 'one' })
    await probed.run({ prompt: 'two', model: 'fake/org/fake-2' })
    expect(stage.model.requests().map(({ body }) => body.model)).toEqual(['fake-1', 'org/fake-2'])
    expect(await probed.pi.command('/agent-now')).toEqual(['NOW {"model":"fake/fake-1","thinking":"off"}'])
    expect(await probed.run({ prompt: 'three', model: 'nobody/knows' })).toMatchObject({
      status: 'failed',
      costUsd: 0,
      error: 'pi does not know the model "nobody/knows": choose another with /triggers set',
    })
    expect(stage.model.requests()).toHaveLength(2)
  })

  it('counts what it costs, and ends when it is told that this is too much', async () => {
    const { stage, priced } = await createPricedStage()
    await using _ = stage
    const probed = await startProbed(stage, priced)
    const call = { toolCalls: [{ name: 'report', args: { ids: ['x'] } }] }
    stage.model.script([call, { text: 'done' }, call, call, { text: 'never' }])
    const within = await probed.run({ prompt: 'cheap', stopAt: 2 * ANSWER_USD })
    expect(within).toMatchObject({ status: 'completed', costs: [ANSWER_USD, 2 * ANSWER_USD], text: 'done' })
    const beyond = await probed.run({ prompt: 'dear', stopAt: 2 * ANSWER_USD })
    expect(beyond).toMatchObject({
      status: 'over_budget',
      costUsd: 2 * ANSWER_USD,
      error: 'the budget is spent',
    })
    expect(stage.model.requests()).toHaveLength(4)
    // What it asked for with its last answer was not begun.
    expect(readFileSync(beyond.transcript!, 'utf8').match(/noted x/g)).toHaveLength(1)
  })

  it('ends in time, when it is aborted, and while a tool of a server hangs', async () => {
    await using stage = await createStage()
    const log = stage.log('raw')
    stage.toml({ raw: misbehaving('--log', log.path) })
    const probed = await startProbed(stage)
    await connected(probed.pi, 'raw')
    stage.model.script([{ text: 'thinking', hold: 'slow' }])
    expect(await probed.run({ prompt: 'slow', timeoutMs: 600 })).toMatchObject({
      status: 'timeout',
      error: 'it did not end within 1 s',
    })
    await waitUntil(() => stage.model.requests()[0]?.ended === 'aborted', PATIENCE_MS)

    stage.model.script([{ text: 'thinking', hold: 'again' }])
    const waiting = await probed.begin({ prompt: 'again' })
    await stage.model.held('again')
    await probed.abort()
    expect(await waiting()).toMatchObject({ status: 'aborted', error: 'it was aborted' })

    stage.model.script([{ toolCalls: [{ name: 'slow', args: { ms: 60_000 } }] }])
    const hanging = await probed.begin({ prompt: 'hang' })
    await log.waitFor(({ message }) => message?.params?.name === 'slow')
    await probed.abort()
    expect(await hanging()).toMatchObject({ status: 'aborted' })
    await log.waitFor(({ message }) => message?.method === 'notifications/cancelled')
    expect((await probed.pi.send('get_state')).data.isStreaming).toBe(false)

    // A question of a server that nobody answers is over with the run.
    probed.pi.answer(() => new Promise(() => undefined))
    const asks = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }
    const args = { method: 'elicitation/create', params: asks }
    stage.model.script([{ toolCalls: [{ name: 'ask', args }] }])
    const before = probed.pi.events.length
    const asking = await probed.begin({ prompt: 'ask' })
    await probed.pi.waitFor(({ method }) => method === 'select', PATIENCE_MS, before)
    await probed.abort()
    expect(await asking()).toMatchObject({ status: 'aborted' })
    await noticed(probed.pi, /^What the MCP server "raw" asked is no longer wanted\.$/)
    await log.waitFor(({ message }) => message?.result?.action === 'cancel')
  })

  it('fails with the words of the model’s provider', async () => {
    await using stage = await createStage()
    const probed = await startProbed(stage, { settings: { retry: { enabled: false } } })
    stage.model.script([{ status: 400, error: 'no such luck' }])
    const outcome = await probed.run({ prompt: 'fail' })
    expect(outcome).toMatchObject({ status: 'failed', error: expect.stringContaining('no such luck') })
  })

  it('searches for tools of servers where there are too many to declare', async () => {
    await using stage = await createStage()
    stage.json({ many: misbehaving('--tools', '120'), few: { ...misbehaving(), exposure: 'direct' } })
    const probed = await startProbed(stage)
    await connected(probed.pi, 'many', 'few')
    const name = 'mcp__many__tool_77'
    stage.model.script([
      { toolCalls: [{ name: 'tool_search', args: { query: name, limit: 1 } }] },
      { toolCalls: [{ name, args: {} }] },
      { text: 'found it' },
    ])
    expect(await probed.run({ prompt: 'find it' })).toMatchObject({ status: 'completed', text: 'found it' })
    const [first, second, third] = stage.model.requests()
    expect(toolNames(first!)).toEqual(expect.arrayContaining(['tool_search', 'report', 'mcp__few__echo']))
    expect(toolNames(first!).filter((tool) => tool.startsWith('mcp__many__'))).toEqual([])
    expect(toolNames(second!).filter((tool) => tool.startsWith('mcp__many__'))).toEqual([name])
    expect(toolNames(second!)).not.toContain('bash')
    expect(toolAnswer(third!)).toContain('77')
  })

  it('has the servers of a project only where it works in that project', async () => {
    await using stage = await createStage()
    stage.json({ mine: { ...misbehaving(), exposure: 'direct' } })
    const proj = { ...misbehaving(), exposure: 'direct' }
    stage.scratch.write('project/.pi/mcp.json', { mcpServers: { proj } })
    stage.scratch.write('project/below/note.txt', '')
    stage.scratch.write('elsewhere/note.txt', '')
    const probed = await startProbed(stage, { args: ['--approve'] })
    await connected(probed.pi, 'mine', 'proj')
    for (const folder of ['project/below', 'elsewhere'])
      await probed.run({ prompt: folder, cwd: path.join(stage.scratch.root, folder) })
    const [below, elsewhere] = stage.model.requests().map(toolNames)
    expect(below).toEqual(expect.arrayContaining(['mcp__mine__echo', 'mcp__proj__echo']))
    expect(elsewhere).toContain('mcp__mine__echo')
    expect(elsewhere).not.toContain('mcp__proj__echo')
  })

  it('leaves forty transcripts in a directory, the newest', async () => {
    await using stage = await createStage()
    const probed = await startProbed(stage)
    for (let index = 0; index < 45; index++) {
      const file = stage.scratch.write(`project/transcripts/old-${index}.jsonl`, '{}\n')
      utimesSync(file, 1_000 + index, 1_000 + index)
    }
    writeFileSync(path.join(probed.transcripts, 'notes.txt'), 'not a transcript')
    const { transcript: kept } = await probed.run({ prompt: 'one more' })
    const left = readdirSync(probed.transcripts)
    expect(left.filter((name) => name.endsWith('.jsonl'))).toHaveLength(40)
    expect(left).toContain(path.basename(kept!))
    expect(left).toContain('old-44.jsonl')
    expect(left).not.toContain('old-5.jsonl')
    expect(left).toContain('notes.txt')
  })
})
