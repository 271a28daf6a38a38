import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { textOf, type ReceivedRequest } from '../../drivers/chat.ts'
import { servers } from '../../drivers/fixtures.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { connected, createStage, PATIENCE_MS, type Stage } from '../stage.ts'
import { SCRIPT, sectionIn } from './side.ts'

const OPENING =
  'MCP servers whose tools are not declared to you. Call the tools of `codemode` servers from codemode scripts. Load the tools of `tool_search` servers with `tool_search`.'

/** Entries of the scripted server, which says of itself what {@link SCRIPT} says. */
function entries(stage: Stage, given: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  const script = stage.scratch.write('script.json', { capabilities: { tools: {} }, ...SCRIPT })
  return Object.fromEntries(
    Object.entries(given).map(([name, entry]) => [
      name,
      { command: process.execPath, args: [servers.scripted, script], ...entry },
    ]),
  )
}

async function requestOf(stage: Stage, prompt: () => Promise<unknown>): Promise<ReceivedRequest> {
  const before = stage.model.requests().length
  await prompt()
  return stage.model.requests()[before]!
}

describe('the section of the system prompt that lists servers', () => {
  it('is there from the first request, and once the servers are known it is complete and stays as it is', async () => {
    await using stage = await createStage()
    stage.json(entries(stage, { 'a-b': {}, found: { exposure: 'deferred', description: 'Of ours' } }))
    const pi = await stage.start()
    const first = sectionIn(await requestOf(stage, () => pi.prompt('one')))
    expect(first?.split('\n')[0]).toBe(OPENING)
    expect(first).toMatch(/^- mcp__a_b \(codemode\)/m)
    expect(first).toMatch(/^- mcp__found \(tool_search\): Of ours$/m)
    await connected(pi, 'a-b', 'found')
    const memory = path.join(stage.scratch.agent, 'tapline', 'factory-tools.json')
    const remembered = () => existsSync(memory) && readFileSync(memory, 'utf8').includes('First line of')
    await waitUntil(remembered, PATIENCE_MS, 'what the server says of itself to be remembered')
    await pi.close()

    const again = await stage.start()
    const requests: ReceivedRequest[] = []
    requests.push(await requestOf(stage, () => again.prompt('one')))
    await connected(again, 'a-b', 'found')
    requests.push(await requestOf(stage, () => again.prompt('two')))
    expect(sectionIn(requests[0]!)).toBe(
      `${OPENING}\n- mcp__a_b (codemode): First line of &lt;instructions>.\n- mcp__found (tool_search): Of ours`,
    )
    expect(requests[1]!.body.messages.slice(0, 2)).toEqual(requests[0]!.body.messages.slice(0, 2))
  })

  it('is appended when it has changed, where the model takes that: what was sent before stays as it is', async () => {
    await using stage = await createStage()
    stage.json(entries(stage, { plain: {} }))
    const { url } = stage.model
    const compat = { supportsMidConvoSystemMessages: true }
    const model = {
      id: 'fake-1',
      name: 'Fake',
      contextWindow: 128_000,
      maxTokens: 4_096,
      input: ['text'],
      compat,
    }
    const fake = { api: 'openai-completions', apiKey: 'x', baseUrl: url, models: [model] }
    const more = stage.extension(
      'more',
      `pi.registerCommand('more', { handler: async () => pi.registerMcpServer('more', {
        command: process.execPath, args: ['-e', ''], description: 'One more' }) })`,
    )
    const pi = await stage.start({ models: { fake }, args: ['-e', more] })
    await connected(pi, 'plain')
    const before = await requestOf(stage, () => pi.prompt('one'))
    await pi.command('/more')
    const changed = await waitUntil(
      async () => {
        const request = await requestOf(stage, () => pi.prompt('and'))
        return request.raw.includes('mcp__more') ? request : undefined
      },
      PATIENCE_MS,
      () => 'the new server in the prompt',
    )
    expect(changed.body.messages.slice(0, before.body.messages.length)).toEqual(before.body.messages)
    const added = changed.body.messages
      .slice(before.body.messages.length)
      .filter(({ role }) => role === 'system')
      .map(({ content }) => textOf(content))
    expect(added).toHaveLength(1)
    expect(added[0]).toMatch(/^Updated system prompt section "mcp_servers":\n\n<mcp_servers>\n/)
    expect(added[0]).toContain('\n- mcp__more (codemode): One more\n- mcp__plain (codemode): First line')
  })

  it('is left out where every tool is declared', async () => {
    await using stage = await createStage()
    stage.json(entries(stage, { plain: { exposure: 'direct' }, off: { enabled: false } }))
    const pi = await stage.start()
    expect(sectionIn(await requestOf(stage, () => pi.prompt('one')))).toBeUndefined()
  })
})
