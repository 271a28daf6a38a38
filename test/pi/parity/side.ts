import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { textOf, toolNames, type ReceivedRequest } from '../../drivers/chat.ts'
import { servers } from '../../drivers/fixtures.ts'
import type { Pi, UiHandler } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { createStage, PATIENCE_MS, type Stage, TAPLINE, toolAnswer } from '../stage.ts'

/** pi's own MCP support, or Tapline in its place. */
export type Under = 'pi' | 'tapline'

/** A tool as `pi.getAllTools()` reports it. */
export interface ReportedTool {
  readonly name: string
  readonly label?: string
  readonly description: string
  readonly parameters: unknown
  readonly outputSchema?: unknown
  readonly exposure?: string
  readonly annotations?: object
  readonly namespace?: {
    readonly name: string
    readonly description?: string
    readonly instructions?: string
  }
}

/** What a pi is started with. */
export interface SideOptions {
  /** The entries of the user's mcp.json; `{}` stands for the scripted server. */
  readonly entries?: Readonly<Record<string, object>>
  /** Whether the scripted server offers resources too. */
  readonly resources?: boolean
  /** Further keys of mcp.json. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** The project's mcp.json, trusted by `--approve`. */
  readonly project?: Readonly<Record<string, object>>
  readonly args?: readonly string[]
  /** Paths of further extensions. */
  readonly extensions?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly onUi?: UiHandler
  readonly prepare?: (stage: Stage) => void
}

/** One pi with MCP servers. */
export interface Side extends AsyncDisposable {
  readonly pi: Pi
  readonly stage: Stage
  /** Starts a turn and answers the request that it made. */
  prompt(): Promise<ReceivedRequest>
  /** Has the model call a tool; answers what the model is told. */
  call(name: string, args?: object): Promise<string>
  /** Has the model run this in codemode. */
  script(code: string): Promise<string>
  tools(): Promise<readonly ReportedTool[]>
  /** How many tool calls the servers have heard. */
  heard(): number
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const hints = (name: string, annotations: object) => ({ name, annotations, inputSchema: { type: 'object' } })

/** The tools of the scripted server, among them those that lie, that clash, and that nothing is said of. */
export const SCRIPT = {
  instructions: 'First line of <instructions>.\nSecond line.',
  'tools/list': {
    '': {
      tools: [
        {
          name: 'transition_issue',
          description: 'Close a ticket.',
          inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: [] },
        },
        { ...hints('delete_everything', { readOnlyHint: true }), description: 'Deletes.' },
        hints('no_hints', {}),
        { ...hints('reads', { readOnlyHint: true, openWorldHint: false }), title: 'Reads' },
        hints('a-b', {}),
        hints('a_b', {}),
        hints('x'.repeat(80), {}),
        { ...hints('fails', {}), description: ' spaced \n description ' },
        { ...hints('refuses', {}), description: 'Is refused.' },
        { ...hints('counts', {}), outputSchema: { type: 'object', properties: { n: { type: 'number' } } } },
        { ...hints('pictures', {}), description: 'Answers with an image.' },
        { ...hints('long', {}), description: 'Answers at length.' },
      ],
    },
  },
  'tools/call': {
    fails: { content: [{ type: 'text', text: 'no luck' }], isError: true },
    refuses: { error: { code: -32602, message: 'never pleased' } },
    counts: { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } },
    pictures: {
      content: [
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'text', text: 'a dot' },
      ],
    },
    long: { content: [{ type: 'text', text: 'One of many lines.\n'.repeat(2_000) }] },
    '*': { content: [{ type: 'text', text: 'done' }] },
  },
}

/** What that server has for reading. */
const RESOURCES = {
  'resources/list': { '': { resources: [{ uri: 'demo:text', name: 'text', description: 'Of few words.' }] } },
  'resources/templates/list': { '': { resourceTemplates: [{ uriTemplate: 'demo:{name}', name: 'any' }] } },
  'resources/read': { 'demo:text': { contents: [{ uri: 'demo:text', text: 'Few words.' }] } },
}

/** Starts a pi; everything but what gives it MCP is the same under both. */
export async function openSide(under: Under, options: SideOptions = {}): Promise<Side> {
  const { entries = {}, resources = false, project, settings = {} } = options
  const { args = [], extensions = [], env, onUi, prepare } = options
  const stage = await createStage()
  const { scratch, model } = stage
  const script = scratch.write('script.json', {
    ...SCRIPT,
    ...RESOURCES,
    capabilities: { tools: {}, ...(resources ? { resources: {} } : {}) },
  })
  const log = path.join(scratch.root, 'heard.jsonl')
  const completed = (given: Readonly<Record<string, object>>) =>
    Object.fromEntries(
      Object.entries(given).map(([name, { scripted = true, ...entry }]: [string, { scripted?: boolean }]) => [
        name,
        scripted ? { command: process.execPath, args: [servers.scripted, script, log], ...entry } : entry,
      ]),
    )
  scratch.write('agent/mcp.json', { ...settings, mcpServers: completed(entries) })
  if (project) scratch.write('project/.pi/mcp.json', { mcpServers: completed(project) })
  prepare?.(stage)
  const probe = stage.extension(
    'probe',
    `pi.registerCommand('probe', { description: 'Reports tools', handler: async (_args, ctx) =>
      ctx.ui.notify('PROBE ' + JSON.stringify(pi.getAllTools()), 'info') })`,
  )
  const pi = await stage.start({
    extensions: [...(under === 'tapline' ? [TAPLINE] : []), probe, ...extensions],
    ...(under === 'pi' ? { settings: { extensions: [] } } : {}),
    args,
    env: { SCRIPT: script, SCRIPT_LOG: log, SCRIPTED: servers.scripted, ...env },
    ...(project ? { cwd: path.join(scratch.root, 'project') } : {}),
    ...(onUi ? { onUi } : {}),
  })
  const side: Side = {
    pi,
    stage,
    prompt: async () => {
      const before = model.requests().length
      await pi.prompt('Please go on.')
      return model.requests()[before]!
    },
    call: async (name, given = {}) => {
      model.script([{ toolCalls: [{ name, args: given }] }])
      await pi.prompt('Please go on.')
      return toolAnswer(model.requests().at(-1)!)
    },
    script: async (code) =>
      (await side.call('codemode', { code }))
        .replaceAll(/(?<=Wall time )[\d.]+/g, '0')
        .replaceAll(/(?<=Image saved to )\S+(?=\.png)/g, '<file>'),
    tools: async () => {
      const report = (await pi.command('/probe')).find((notice) => notice.startsWith('PROBE ')) ?? 'PROBE []'
      return JSON.parse(report.slice(6)) as readonly ReportedTool[]
    },
    heard: () =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .split('\n')
            .filter((line) => line.includes('"tools/call"')).length
        : 0,
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  }
  return side
}

/** The tools that a request declares, but those of Tapline's rules, which pi's own support does not have. */
export function declaredBy(request: ReceivedRequest): string[] {
  return toolNames(request).filter((name) => !/trigger/.test(name))
}

/** The section of the system prompt that lists servers, as the model was first told it. */
export function sectionIn({ body }: ReceivedRequest): string | undefined {
  const system = body.messages.filter(({ role }) => role === 'system').map(({ content }) => textOf(content))
  return /<mcp_servers>\n([\s\S]*?)\n<\/mcp_servers>/.exec(system.join('\n'))?.[1]
}

/** Waits until so many tools of servers are registered. */
export async function registered(side: Side, count: number): Promise<readonly ReportedTool[]> {
  const look = async () => {
    const tools = (await side.tools()).filter(({ name }) => name.startsWith('mcp__'))
    return tools.length >= count ? tools : undefined
  }
  return waitUntil(look, PATIENCE_MS, () => `${count} tools of servers`)
}
