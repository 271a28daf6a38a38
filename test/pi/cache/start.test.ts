import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { toolNames, type ReceivedRequest } from '../../drivers/chat.ts'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { servers } from '../../drivers/fixtures.ts'
import { library, scriptedEntry } from '../resources/library.ts'
import {
  callTool,
  connected,
  createStage,
  gated,
  misbehaving,
  PATIENCE_MS,
  serversShow,
  toolAnswer,
} from '../stage.ts'
import type { Stage } from '../stage.ts'

/** Opens and shuts what a gated server waits for. */
function gateOf(stage: Stage, name = 'gate'): { path: string; open(): void; shut(): void } {
  const file = path.join(stage.scratch.root, name)
  return { path: file, open: () => void stage.scratch.write(name, ''), shut: () => rmSync(file) }
}

/** Lets a session fill the cache, and ends it. */
async function fill(stage: Stage, ...names: readonly string[]): Promise<void> {
  const pi = await stage.start()
  await connected(pi, ...names)
  await pi.close()
}

const busy = async (pi: Pi) => (await pi.send('get_state')).data.isStreaming

describe('the cache of tools', () => {
  it('offers the tools of a server that has not started yet; a call waits for it', async () => {
    await using stage = await createStage()
    const gate = gateOf(stage)
    stage.json({ slow: { ...gated(gate.path, misbehaving()), exposure: 'direct' } })
    gate.open()
    await fill(stage, 'slow')
    gate.shut()

    const pi = await stage.start()
    stage.model.script([{ toolCalls: [{ name: 'mcp__slow__echo', args: { text: 'worth the wait' } }] }])
    const answered = pi.prompt('Go on.')
    const first = await stage.model.waitForRequest()
    expect(toolNames(first)).toContain('mcp__slow__echo')
    await pi.waitFor(({ type }) => type === 'tool_execution_start', PATIENCE_MS, 0)
    expect((await pi.command('/mcp')).join()).toContain('slow: connecting…')
    gate.open()
    await answered
    expect(toolAnswer(stage.model.requests().at(-1)!)).toBe('worth the wait')
  })

  it('offers them to scripts too, and a script waits', async () => {
    await using stage = await createStage()
    const gate = gateOf(stage)
    stage.json({ slow: gated(gate.path, misbehaving()) })
    gate.open()
    await fill(stage, 'slow')
    gate.shut()

    const pi = await stage.start()
    const code = `return (await tools.mcp__slow__echo({ text: 'worth it' })).content[0].text`
    stage.model.script([{ toolCalls: [{ name: 'codemode', args: { code } }] }])
    const answered = pi.prompt('Go on.')
    await pi.waitFor(({ type }) => type === 'tool_execution_start', PATIENCE_MS, 0)
    gate.open()
    await answered
    expect(toolAnswer(stage.model.requests().at(-1)!)).toMatch(/\nworth it$/)
  })

  it('is not believed when the configuration has changed', async () => {
    await using stage = await createStage()
    const gate = gateOf(stage)
    const entry = { ...gated(gate.path, misbehaving()), exposure: 'direct' }
    stage.json({ server: entry })
    gate.open()
    await fill(stage, 'server')
    gate.shut()

    stage.json({ server: { ...entry, toolExposure: { fail: 'hidden' }, env: { CHANGED: '1' } } })
    const pi = await stage.start()
    const answered = pi.prompt('Go on.')
    await waitUntil(() => busy(pi), PATIENCE_MS, 'the prompt to be taken')
    await serversShow(pi, /server: connecting…/)
    expect(stage.model.requests()).toEqual([])
    gate.open()
    await answered
    const names = toolNames(stage.model.requests()[0]!)
    expect(names).toContain('mcp__server__echo')
    expect(names).not.toContain('mcp__server__fail')
  })

  it('loses the tools that the server turns out not to have any more', async () => {
    await using stage = await createStage()
    const gate = gateOf(stage)
    const flags = path.join(stage.scratch.root, 'flags')
    stage.scratch.write('flags', '--tools 2')
    const script = `exec "$0" "$1" $(cat "$2")`
    const varying = { command: '/bin/sh', args: ['-c', script, process.execPath, servers.misbehaving, flags] }
    stage.json({ server: { ...gated(gate.path, varying), exposure: 'direct' } })
    gate.open()
    await fill(stage, 'server')
    gate.shut()

    stage.scratch.write('flags', '--tools 1')
    const pi = await stage.start()
    await pi.prompt('Go on.')
    expect(toolNames(stage.model.requests()[0]!)).toContain('mcp__server__tool_1')
    gate.open()
    await serversShow(pi, /server: connected · 15 tools/)
    const request = await callTool(stage, pi, 'mcp__server__tool_1')
    expect(toolAnswer(request)).toBe('Tool mcp__server__tool_1 not found')
    expect(toolNames(request)).not.toContain('mcp__server__tool_1')
    expect(toolNames(request)).toContain('mcp__server__tool_0')
  })

  it('loses many of a server at once, and none that another one brings later to a resumed conversation', async () => {
    await using stage = await createStage()
    const [gate, later] = [gateOf(stage), gateOf(stage, 'later')]
    const offer = (count: number): void => {
      const tools = Array.from({ length: count }, (_, n) => ({
        name: `t${n}`,
        inputSchema: { type: 'object' },
      }))
      stage.scratch.write('many.json', { capabilities: { tools: {} }, 'tools/list': { '': { tools } } })
    }
    const direct = { ...gated(gate.path, scriptedEntry(stage, { script: 'many.json' })), exposure: 'direct' }
    stage.scratch.write('script.json', library)
    const found = { ...gated(later.path, scriptedEntry(stage)), exposure: 'deferred' }
    offer(14)
    for (const { open } of [gate, later]) open()
    stage.json({ server: direct, found })
    const before = await stage.start()
    await connected(before, 'server', 'found')
    await callTool(stage, before, 'tool_search', { query: 'link', limit: 1 })
    const after = await callTool(stage, before, 'tool_search', { query: 'read a resource', limit: 1 })
    const loaded = ['mcp__found__link', 'read_mcp_resource']
    expect(toolNames(after)).toEqual(expect.arrayContaining(loaded))
    await before.close()

    for (const { shut } of [gate, later]) shut()
    offer(1)
    // With another entry, nobody knows its tools until it is there.
    stage.json({ server: direct, found: { ...found, env: { CHANGED: '1' } } })
    const pi = await stage.start({ args: ['--continue'] })
    gate.open()
    await serversShow(pi, /server: connected · 1 tool/)
    later.open()
    await connected(pi, 'found')
    await pi.prompt('Go on.')
    const names = toolNames(stage.model.requests().at(-1)!)
    expect(names).toContain('mcp__server__t0')
    expect(names).not.toContain('mcp__server__t1')
    expect(names).toEqual(expect.arrayContaining(loaded))
  })
})

/** Exposures of two servers of mcp.json, and of two of mcp.toml. */
const kinds: Record<string, readonly object[]> = {
  'by mcp.json': [
    { exposure: 'direct' },
    { toolExposure: { 'e*': 'direct', tool_0: 'deferred' } },
    {},
    { naming: 'mcp' },
  ],
  'by mcp.toml': [
    { exposure: 'direct' },
    { exposure: 'direct' },
    { exposure: 'codemode', tool_exposure: { echo: 'direct' } },
    { tool_exposure: { 't*': 'deferred' } },
  ],
}

describe('the tools that the model is told of', () => {
  it.each(Object.keys(kinds))(
    'are the same to the byte, cold and warm, in any order, scripts asked for %s',
    async (kind) => {
      await using stage = await createStage()
      const names = ['b-json', 'a-json', 'd-toml', 'c-toml']
      const gates = new Map(names.map((name) => [name, gateOf(stage, name)]))
      const entries = names.map((name, index) => {
        const server = gated(gates.get(name)!.path, misbehaving('--tools', '3', '--name', name))
        return [name, { ...server, ...kinds[kind]![index] }] as const
      })
      stage.json(Object.fromEntries(entries.slice(0, 2)))
      stage.toml(Object.fromEntries(entries.slice(2)))

      /** A session whose servers start in this order; answers what its first request says of tools. */
      const run = async (order: readonly string[], ...args: string[]): Promise<string[]> => {
        gates.forEach(({ path: file }) => rmSync(file, { force: true }))
        stage.model.reset()
        const pi = await stage.start({ args })
        const prompted = pi.prompt('hello')
        for (const name of order) {
          gates.get(name)!.open()
          await serversShow(pi, new RegExp(`${name}: connected`))
        }
        await prompted
        await connected(pi, ...names)
        await pi.prompt('hello again')
        const [first, second] = stage.model.requests().map(toolBytes)
        expect(second).toEqual(first)
        await pi.close()
        return first!
      }
      const cold = await run(names)
      expect(cold.join()).toMatch(
        /,codemode .*,tool_search .*,mcp__a_json__echo .*,mcp__b_json__tool_2 .*,echo /,
      )
      expect(await run(names.toReversed())).toEqual(cold)
      // Nor does a conversation that goes on in another process hear of anything new.
      expect(await run(names.toReversed(), '--continue')).toEqual(cold)
      rmSync(path.join(stage.scratch.agent, 'tapline'), { recursive: true })
      expect(await run(names.toReversed())).toEqual(cold)
    },
  )
})

/** The `tools` of a request as they were sent: the name and a digest of the bytes of each, in order. */
function toolBytes({ raw, body }: ReceivedRequest): string[] {
  const tools = body.tools ?? []
  if (!raw.includes(JSON.stringify(tools))) throw new Error('The tools were not sent in the form compared.')
  const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)
  return tools.map((tool) => `${tool.function.name} ${digest(JSON.stringify(tool))}`)
}
