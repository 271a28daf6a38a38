import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import {
  callTool,
  connected,
  createStage,
  gated,
  misbehaving,
  noticed,
  PATIENCE_MS,
  said,
  type Stage,
  TAPLINE,
  toolAnswer,
} from '../stage.ts'
import { library, scriptedEntry } from './library.ts'

const NAMES = ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource']

const read = (stage: Stage, pi: Pi, server: string, uri = 'demo:text') =>
  callTool(stage, pi, 'read_mcp_resource', { server, uri })

/** The resource tools that the next request declares. */
async function declared(stage: Stage, pi: Pi): Promise<string[]> {
  await pi.prompt('Say something.')
  return toolNames(stage.model.requests().at(-1)!).filter((name) => NAMES.includes(name))
}

/** Prompts until the tools are declared like this. */
async function declares(stage: Stage, pi: Pi, names: readonly string[]): Promise<void> {
  let seen: string[] = []
  await waitUntil(
    async () => JSON.stringify((seen = await declared(stage, pi))) === JSON.stringify(names),
    PATIENCE_MS,
    () => `${JSON.stringify(names)}, not ${JSON.stringify(seen)}; stderr: ${pi.stderr}`,
  )
}

/** Another extension with a tool of that name. */
const THEIRS = `
  pi.registerTool({
    name: 'read_mcp_resource', label: 'Theirs', description: 'Theirs.', parameters: { type: 'object', properties: {} },
    execute: async () => ({ content: [{ type: 'text', text: 'theirs' }] }),
  })`

describe('resource tools in the real pi', () => {
  it('come and go with the servers that offer resources, as widely exposed as the widest', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', library)
    stage.scratch.write('bare.json', { ...library, capabilities: { tools: {} } })
    const bare = scriptedEntry(stage, { script: 'bare.json' })
    const lib = scriptedEntry(stage)
    const direct = { lib: { ...lib, exposure: 'direct' } }
    const plain = { plain: lib }
    // Without resources, and the reason for codemode.
    const always = { bare: { ...bare, exposure: 'direct' }, scripts: bare }
    stage.json(always)
    const pi = await stage.start()
    expect(await declared(stage, pi)).toEqual([])
    const change = async (entries: Readonly<Record<string, object>>): Promise<void> => {
      stage.json({ ...always, ...entries })
      await pi.command('/mcp reload')
    }

    await change({ ...direct, ...plain })
    await declares(stage, pi, NAMES)
    expect(toolAnswer(await read(stage, pi, 'lib'))).toBe('Grüße ☃\n')
    // What scripts alone reach is not declared; the server is still read.
    await change({ ...plain })
    await declares(stage, pi, [])
    const script = `text((await tools.read_mcp_resource({ server: 'plain', uri: 'demo:text' })).contents[0].text)`
    expect(toolAnswer(await callTool(stage, pi, 'codemode', { code: script }))).toContain('Grüße ☃')
    await change({ hidden: { ...lib, exposure: 'hidden', toolExposure: { link: 'direct' } } })
    expect(toolAnswer(await callTool(stage, pi, 'codemode', { code: script }))).toMatch(/fail|not/i)
    await change({ off: { ...lib, exposure: 'direct', enabled: false } })
    expect(await declared(stage, pi)).toEqual([])
    await change({ ...direct })
    await declares(stage, pi, NAMES)
  })

  it('are in the first request of the next session, before its server is there, and in every later one', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', library)
    const gate = path.join(stage.scratch.root, 'gate')
    stage.json({ lib: { ...gated(gate, scriptedEntry(stage)), exposure: 'direct' } })
    writeFileSync(gate, '')
    const cold = await stage.start()
    await declares(stage, cold, NAMES)
    const [tools] = stage.model.requests().map(({ body }) => body.tools)
    await cold.close()
    rmSync(gate)

    stage.model.reset()
    const warm = await stage.start()
    expect(await declared(stage, warm)).toEqual(NAMES)
    stage.model.script([
      { toolCalls: [{ name: 'read_mcp_resource', args: { server: 'lib', uri: 'demo:text' } }] },
    ])
    const from = warm.events.length
    const reading = warm.prompt('Read.')
    await warm.waitFor(({ type }) => type === 'tool_execution_start', PATIENCE_MS, from)
    writeFileSync(gate, '')
    await reading
    await connected(warm, 'lib')
    await warm.prompt('And on.')
    const requests = stage.model.requests()
    expect(toolAnswer(requests[2]!)).toBe('Grüße ☃\n')
    expect(requests).toHaveLength(4)
    for (const { body } of requests) expect(body.tools).toEqual(tools)
    await warm.close()

    // Another extension that has come in between keeps its tool; what a server has lost is withdrawn.
    stage.model.reset()
    stage.scratch.write('script.json', { ...library, capabilities: { tools: {} } })
    const theirs = await stage.start({ extensions: [TAPLINE, stage.extension('theirs', THEIRS)] })
    await connected(theirs, 'lib')
    await declares(stage, theirs, ['read_mcp_resource'])
    expect(toolAnswer(await read(stage, theirs, 'lib'))).toBe('theirs')
    await theirs.close()
    stage.model.reset()
    const bare = await stage.start()
    expect(await declared(stage, bare)).toEqual([])
  })

  it('wait for the server that they name, and for all when they name none', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', library)
    const gate = path.join(stage.scratch.root, 'gate')
    const lib = scriptedEntry(stage)
    stage.json({ early: { ...lib, exposure: 'direct' }, late: gated(gate, lib) })
    const pi = await stage.start()
    await connected(pi, 'early')
    expect(toolAnswer(await read(stage, pi, 'early'))).toBe('Grüße ☃\n')

    stage.model.script([{ toolCalls: [{ name: 'list_mcp_resources', args: {} }] }])
    const from = pi.events.length
    const listing = pi.prompt('List.')
    await pi.waitFor(({ type }) => type === 'tool_execution_start', PATIENCE_MS, from)
    expect(pi.events.slice(from).some(({ type }) => type === 'tool_execution_end')).toBe(false)
    writeFileSync(gate, '')
    await listing
    const { resources } = JSON.parse(toolAnswer(stage.model.requests().at(-1)!)) as {
      resources: { server: string }[]
    }
    expect(new Set(resources.map(({ server }) => server))).toEqual(new Set(['early', 'late']))
  })

  it('stay while their server is away, and bring it back', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.json({ good: { ...misbehaving('--log', log.path), exposure: 'direct' } })
    const pi = await stage.start()
    await connected(pi, 'good')
    await callTool(stage, pi, 'mcp__good__crash')
    const request = await read(stage, pi, 'good', 'fixture://one')
    expect(toolAnswer(request)).toBe('The content of fixture://one')
    expect(toolNames(request)).toEqual(expect.arrayContaining(NAMES))
    expect(log.pids()).toHaveLength(2)
  })

  it('try once more when an HTTP server is overloaded, which a tool call does not', async () => {
    await using http = await startHttpFixture(servers.httpMisbehaving)
    await using stage = await createStage()
    stage.json({ web: { url: http.url, exposure: 'direct' } })
    const pi = await stage.start()
    await connected(pi, 'web')
    const asked = async (method: string) =>
      (await http.log()).filter(({ body }) => body?.method === method).length
    const fail = (method: string, count: number) =>
      http.control({ do: 'error', for: method, status: 503, count })

    await fail('resources/read', 1)
    expect(toolAnswer(await read(stage, pi, 'web', 'fixture://one'))).toBe('The content of fixture://one')
    expect(await asked('resources/read')).toBe(2)
    await fail('resources/list', 2)
    expect(toolAnswer(await callTool(stage, pi, 'list_mcp_resources'))).toMatch(
      /"errors":\[\{"server":"web","error":"The server answered HTTP 503/,
    )
    expect(await asked('resources/list')).toBe(2)
    await fail('tools/call', 1)
    expect(toolAnswer(await callTool(stage, pi, 'mcp__web__echo', { text: 'x' }))).toContain('HTTP 503')
    expect(await asked('tools/call')).toBe(1)
  })

  it('leave the names of another extension alone and say so once; links do not name what is not ours', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', library)
    stage.json({ lib: { ...scriptedEntry(stage), exposure: 'direct' } })
    const pi = await stage.start({ extensions: [TAPLINE, stage.extension('theirs', THEIRS)] })
    await connected(pi, 'lib')
    expect(toolAnswer(await read(stage, pi, 'lib'))).toBe('theirs')
    expect(toolAnswer(await callTool(stage, pi, 'list_mcp_resources'))).toContain('"server":"lib"')
    const linked = toolAnswer(await callTool(stage, pi, 'mcp__lib__link'))
    expect(linked).toBe('[Resource demo:text "A text" (text/plain, 2.0KB): To be read.]')
    expect(await noticed(pi, /another extension/)).toContain(
      'another extension has tools named read_mcp_resource',
    )
    await pi.command('/mcp reload')
    expect(said(pi).filter((notice) => /read_mcp_resource/.test(notice))).toHaveLength(1)
  })

  it('are there again in another session of the same process', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', library)
    stage.json({ lib: { ...scriptedEntry(stage), exposure: 'direct' } })
    const pi = await stage.start()
    await connected(pi, 'lib')
    await declares(stage, pi, NAMES)
    for (let round = 0; round < 2; round += 1) {
      expect((await pi.send('new_session')).success).toBe(true)
      expect(await declared(stage, pi)).toEqual(NAMES)
      expect(toolAnswer(await read(stage, pi, 'lib'))).toBe('Grüße ☃\n')
    }
    expect(said(pi)).toEqual([])
  })

  it('are not there when the plugin is disabled', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', library)
    stage.scratch.write('agent/tapline.toml', 'disable = ["resources"]\n')
    stage.json({ lib: { ...scriptedEntry(stage), exposure: 'direct' } })
    const pi = await stage.start()
    await connected(pi, 'lib')
    expect(await declared(stage, pi)).toEqual([])
    expect(toolAnswer(await callTool(stage, pi, 'mcp__lib__link'))).not.toContain('read_mcp_resource')
  })

  it('read servers of every file and era, limit what is read as their tools, and keep binaries private', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', library)
    stage.toml({ tom: scriptedEntry(stage), new: { command: process.execPath, args: [servers.modern] } })
    const pi = await stage.start()
    await connected(pi, 'tom', 'new')
    const listed = toolAnswer(await callTool(stage, pi, 'list_mcp_resources', { server: 'new' }))
    const [first] = (JSON.parse(listed) as { resources: { uri: string }[] }).resources
    expect(first).toMatchObject({ server: 'new', uri: 'fixture://one' })
    expect(toolAnswer(await read(stage, pi, 'new', 'fixture://one'))).toContain('fixture://one')
    // 64 KiB where it would be 20 KB in mcp.json.
    expect(toolAnswer(await read(stage, pi, 'tom', 'demo:long'))).toHaveLength(50_000)
    const saved = toolAnswer(await read(stage, pi, 'tom', 'demo:binary'))
    const file = /saved to (\S+\.pdf)\]$/.exec(saved)?.[1] ?? ''
    expect(readFileSync(file, 'utf8')).toBe('%PDF-1.4 …')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(path.dirname(file)) && statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
  })

  it('end with a sentence when a server answers nonsense, endlessly, or not at all', async () => {
    await using stage = await createStage()
    const again = { resources: [{ uri: 'demo:x', name: 'x' }], nextCursor: 'again' }
    stage.scratch.write('script.json', {
      ...library,
      'resources/list': { '*': again, '': again },
      'resources/templates/list': { '': { resourceTemplates: [{ uriTemplate: 7 }] } },
      'resources/read': {
        'demo:text': { contents: [{ uri: 'demo:text' }] },
        'demo:no': { error: { code: -32_002, message: 'Gone \u001B[31mfor good' } },
      },
    })
    stage.json({
      lib: { ...scriptedEntry(stage), exposure: 'direct' },
      mute: { ...misbehaving('--silent'), timeout: 1 },
    })
    const pi = await stage.start()
    await connected(pi, 'lib')
    const answer = async (name: string, args: object) => toolAnswer(await callTool(stage, pi, name, args))
    expect(JSON.parse(await answer('list_mcp_resources', {}))).toEqual({
      resources: [],
      errors: [{ server: 'lib', error: 'MCP resources/list returned duplicate cursor: again' }],
    })
    expect(await answer('list_mcp_resource_templates', { server: 'lib' })).toBe(
      'Invalid entry in MCP resources/templates/list result',
    )
    expect(await answer('read_mcp_resource', { server: 'lib', uri: 'demo:text' })).toBe(
      'Invalid contents in MCP resources/read result',
    )
    expect(await answer('read_mcp_resource', { server: 'lib', uri: 'demo:no' })).toMatch(
      /-32002: Gone for good/,
    )
    expect(await answer('read_mcp_resource', { server: 'mute', uri: 'demo:no' })).toBe(
      'MCP server "mute" has no resources. Servers with resources: lib',
    )
  })
})
