import { readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { trustStore } from '@tapline/headless'
import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import { library, scriptedEntry } from '../resources/library.ts'
import { connected, createStage, type Stage, tomlOf, toolAnswer } from '../stage.ts'
import { type ProbeTask, startProbed } from './sub-agents.ts'

const NAMES = ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource']
const LIST = { toolCalls: [{ name: 'list_mcp_resources', args: {} }] }
const read = (server: string) => ({
  toolCalls: [{ name: 'read_mcp_resource', args: { server, uri: 'demo:text' } }],
})

interface Listed {
  readonly resources: readonly { readonly server: string }[]
}

/** The servers whose resources a sub-agent that works there is shown, and what it then reads of `server`. */
async function readsOf(
  stage: Stage,
  run: (task: ProbeTask) => Promise<unknown>,
  server: string,
  cwd: string,
): Promise<{ readonly declared: string[]; readonly servers: readonly string[]; readonly text: string }> {
  const before = stage.model.requests().length
  stage.model.script([LIST, read(server), { text: 'read' }])
  await run({ prompt: 'Read.', cwd })
  const [first, second, third] = stage.model.requests().slice(before)
  const { resources } = JSON.parse(toolAnswer(second!)) as Listed
  return {
    declared: toolNames(first!).filter((name) => NAMES.includes(name)),
    servers: [...new Set(resources.map((resource) => resource.server))],
    text: toolAnswer(third!),
  }
}

describe('a sub-agent', () => {
  it('reads the resources of the servers that it has, and of no others', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', library)
    stage.scratch.write('mute.json', { ...library, capabilities: { tools: {} } })
    const entry = scriptedEntry(stage)
    stage.json({
      mine: entry,
      mute: scriptedEntry(stage, { script: 'mute.json' }),
      hid: { ...entry, exposure: 'hidden' },
    })
    stage.scratch.write('project/.pi/mcp.json', { mcpServers: { proj: entry } })
    const { pi, run } = await startProbed(stage, { args: ['--approve'] })
    await connected(pi, 'mine', 'mute', 'hid', 'proj')

    expect(await readsOf(stage, run, 'proj', stage.scratch.project)).toEqual({
      declared: NAMES,
      servers: ['mine', 'proj'],
      text: 'Grüße ☃\n',
    })
    const elsewhere = path.dirname(stage.scratch.write('elsewhere/note.txt', ''))
    expect(await readsOf(stage, run, 'proj', elsewhere)).toEqual({
      declared: NAMES,
      servers: ['mine'],
      text: 'MCP server "proj" has no resources. Servers with resources: mine',
    })
  })

  it('reads those of servers that are lent to it, also of one without a tool', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', { ...library, 'tools/list': { '': { tools: [] } } })
    const file = stage.scratch.write('other/.pi/mcp.toml', tomlOf({ lent: scriptedEntry(stage) }))
    const directory = realpathSync(path.dirname(path.dirname(file)))
    const question = { path: file, directory, content: readFileSync(file, 'utf8') }
    await trustStore(stage.scratch.agent).save(question, true)
    const { run } = await startProbed(stage)
    expect(await readsOf(stage, run, 'lent', directory)).toEqual({
      declared: NAMES,
      servers: ['lent'],
      text: 'Grüße ☃\n',
    })
  })

  it('has no such tools where nothing offers resources', async () => {
    await using stage = await createStage()
    stage.scratch.write('script.json', { ...library, capabilities: { tools: {} } })
    stage.json({ plain: scriptedEntry(stage) })
    const { pi, run } = await startProbed(stage)
    await connected(pi, 'plain')
    await run({ prompt: 'Look.' })
    expect(toolNames(stage.model.requests()[0]!).filter((name) => NAMES.includes(name))).toEqual([])
  })
})
