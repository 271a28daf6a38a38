import { describe, expect, it } from 'vitest'
import type { ChatTool } from '../../drivers/chat.ts'
import type { ToolCall } from '../../drivers/fake-model.ts'
import { servers } from '../../drivers/fixtures.ts'
import { createStage, TAPLINE } from '../stage.ts'
import { library, scriptedEntry } from './library.ts'

const NAMES = ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource']

interface Seen {
  /** The resource tools as the first request declares them. */
  readonly declared: readonly ChatTool[]
  /** What each call answered: content, details, and whether it is an error. Files and times are left out. */
  readonly answers: readonly unknown[]
}

/** One prompt under pi's own support or under Tapline, with everything else the same. */
async function seen(
  under: 'pi' | 'tapline',
  entries: Readonly<Record<string, object>>,
  toolCalls: readonly ToolCall[],
): Promise<Seen> {
  await using stage = await createStage()
  stage.scratch.write('script.json', library)
  stage.json(
    Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => [
        name,
        'command' in entry ? entry : { ...scriptedEntry(stage), ...entry },
      ]),
    ),
  )
  const pi = await stage.start(
    under === 'tapline' ? { extensions: [TAPLINE] } : { extensions: [], settings: { extensions: [] } },
  )
  for (const call of toolCalls) stage.model.script([{ toolCalls: [call] }])
  await pi.prompt('Please go on.')
  const [first] = stage.model.requests()
  return {
    declared: (first?.body.tools ?? []).filter(({ function: { name } }) => NAMES.includes(name)),
    answers: pi.events
      .filter(({ type, parentToolCallId }) => type === 'tool_execution_end' && !parentToolCallId)
      .map(({ toolName, isError, result }) => comparable({ toolName, isError, result })),
  }
}

/** Files have names of their own, and scripts take their time. */
function comparable(answer: object): unknown {
  const text = JSON.stringify(answer)
    .replaceAll(/\/[^\s"\\]*\/(?:pi-mcp|mcp)-\w+(?=\.\w+)/g, '<file>')
    .replaceAll(/(?<=Wall time )[\d.]+(?= seconds)/g, '<n>')
    .replaceAll(/(?<="durationMs":)[\d.]+/g, '0')
  return JSON.parse(text)
}

async function both(
  entries: Readonly<Record<string, object>>,
  toolCalls: readonly ToolCall[],
): Promise<{ readonly ours: Seen; readonly theirs: Seen }> {
  const theirs = await seen('pi', entries, toolCalls)
  const ours = await seen('tapline', entries, toolCalls)
  expect(theirs.answers).toHaveLength(toolCalls.length)
  return { ours, theirs }
}

const list = (args: object = {}): ToolCall => ({ name: 'list_mcp_resources', args })
const templates = (args: object = {}): ToolCall => ({ name: 'list_mcp_resource_templates', args })
const read = (server: string, uri: string): ToolCall => ({ name: 'read_mcp_resource', args: { server, uri } })

describe('beside pi’s own support', () => {
  it('the tools are declared alike, and list and read alike', async () => {
    const calls = [
      list(),
      list({ server: 'lib' }),
      list({ server: 'lib', cursor: '2' }),
      list({ cursor: '2' }),
      list({ server: 'nobody' }),
      templates(),
      templates({ server: 'plain' }),
      ...['text', 'image', 'binary', 'markup', 'several', 'nothing', 'long'].map((name) =>
        read('lib', `demo:${name}`),
      ),
      read('plain', 'demo:text'),
      read('nobody', 'demo:text'),
      read('lib', ' '),
    ]
    const { ours, theirs } = await both(
      { lib: { exposure: 'direct' }, plain: { exposure: 'codemode' } },
      calls,
    )
    expect(theirs.declared).toHaveLength(3)
    expect(ours).toEqual(theirs)
  })

  it('scripts find them, and receive the same', async () => {
    const code = (body: string): ToolCall => ({ name: 'codemode', args: { code: body } })
    const calls = [
      code(`text(JSON.stringify(ALL_TOOLS.map(({ name }) => name).filter((name) => /resource/.test(name))))`),
      code(`text(await describeTool('read_mcp_resource'))`),
      code(`text(JSON.stringify(await tools.list_mcp_resources({})))`),
      code(`text(JSON.stringify(await tools.list_mcp_resource_templates({ server: 'lib' })))`),
      ...['image', 'several', 'long', 'nothing'].map((name) =>
        code(
          `text(JSON.stringify(await tools.read_mcp_resource({ server: 'lib', uri: 'demo:${name}' })).slice(-900))`,
        ),
      ),
    ]
    const { ours, theirs } = await both({ lib: {} }, [code(`await tools.mcp__lib__link({})`), ...calls])
    expect(theirs.declared).toEqual([])
    expect(ours.declared).toEqual([])
    for (const [index, answer] of theirs.answers.entries()) expect(ours.answers[index]).toEqual(answer)
  })

  it('a link in a result names the tool and the server where it can be read, and not where it cannot', async () => {
    const calls = ['lib', 'mute'].map((name): ToolCall => ({ name: `mcp__${name}__link` }))
    const { ours, theirs } = await both(
      { lib: { exposure: 'direct' }, mute: { exposure: 'hidden', toolExposure: { link: 'direct' } } },
      calls,
    )
    expect(ours.answers).toEqual(theirs.answers)
    expect(JSON.stringify(ours.answers[0])).toContain('Read it with read_mcp_resource (server \\"lib\\")')
    expect(JSON.stringify(ours.answers[1])).not.toContain('read_mcp_resource')
  })

  it('a real server is listed and read alike', async () => {
    const everything = { command: process.execPath, args: [servers.everything], exposure: 'direct' }
    const doc = 'demo://resource/static/document/architecture.md'
    const calls = [list(), list({ server: 'all' }), templates(), read('all', doc), read('all', 'demo://no')]
    const { ours, theirs } = await both({ all: everything }, calls)
    expect(ours.declared).toEqual(theirs.declared)
    expect(ours.answers.slice(0, 4)).toEqual(theirs.answers.slice(0, 4))
    for (const { answers } of [ours, theirs]) expect(JSON.stringify(answers[4])).toContain('demo://no')
  })
})
