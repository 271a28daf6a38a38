import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DIFFERENCES } from './differences.ts'
import { type Configuration, observe, type Observation } from './observation.ts'
import { SCRIPT, type Under } from './side.ts'

const TOOLS = SCRIPT['tools/list'][''].tools.length
const described = { description: 'Of one <line>.\nAnd another.' }
const four = {
  'd-i-r': { exposure: 'direct' },
  cm: described,
  def: { exposure: 'deferred' },
  hid: { exposure: 'hidden' },
}
const flagged = (name: string, tools: number, ...args: readonly string[]): Configuration => ({
  name,
  tools,
  args,
  entries: four,
  resources: true,
})
const READING = ['list_mcp_resources', 'list_mcp_resource_templates']
const SCRIPTS = {
  'what a namespace is, by each of its names': `const seen = await Promise.all(
    ['d-i-r', 'd_i_r', 'mcp__d-i-r', 'mcp__d_i_r', 'cm', 'nobody'].map((name) => describeNamespace(name)))
    for (const one of seen) one?.tools.sort()
    text(JSON.stringify(seen))`,
  'what is found, in one namespace and in all': `for (const options of [{}, { namespace: 'mcp__d-i-r' }, { namespace: 'def', limit: 1 }])
    text(JSON.stringify((await searchTools('close a ticket', options))
      .map(({ name }) => name).filter((name) => /transition/.test(name)).sort()))`,
  'what a tool is': `text(await describeTool('mcp__cm__counts'))`,
  'a failure that resolves': `text(JSON.stringify(await tools.mcp__cm__fails({})))`,
  'a refusal that rejects': `try { await tools.mcp__cm__refuses({}) } catch (error) { text('ERR ' + error.message) }`,
  'what is structured': `text(JSON.stringify(await tools.mcp__def__counts({})))`,
  'an image that is handed on': `const { content } = await tools.mcp__cm__pictures({})
    text(content.map(({ type }) => type).join())
    image(content[0])`,
  'an answer that is too long for the model': `const { content } = await tools.mcp__cm__long({}); text(content[0].text.length)`,
}

const CONFIGURATIONS: readonly Configuration[] = [
  {
    name: 'every exposure',
    tools: 4 * TOOLS,
    entries: four,
    calls: ['fails', 'refuses', 'counts', 'no_hints', 'pictures', 'long'].map(
      (tool) => `mcp__d_i_r__${tool}`,
    ),
    scripts: SCRIPTS,
  },
  {
    name: 'exposures by tool: exact names first, then the first pattern',
    tools: 3 * TOOLS,
    entries: {
      one: {
        exposure: 'codemode-deferred',
        toolExposure: { '*_issue': 'direct', 'transition_*': 'hidden', reads: 'deferred', 're*': 'hidden' },
      },
      two: { exposure: 'hidden', toolExposure: { transition_issue: 'codemode' } },
      three: { exposure: 'deferred', toolExposure: { 'a*': 'direct' }, description: '  ' },
    },
  },
  {
    name: 'servers that are off, and a project that changes and replaces',
    tools: 3 * TOOLS,
    args: ['--approve'],
    entries: { off: { enabled: false }, changed: {}, replaced: { exposure: 'direct' }, kept: {} },
    project: {
      changed: { scripted: false, exposure: 'direct' },
      replaced: { exposure: 'deferred', description: 'The project’s.' },
    },
  },
  {
    name: 'codemode that is not to be activated',
    tools: TOOLS,
    entries: { cm: {} },
    settings: { autoEnableCodemode: false },
  },
  {
    name: 'resources, as widely exposed as the widest server',
    tools: 2 * TOOLS,
    entries: { cm: {}, def: { exposure: 'deferred' } },
    resources: true,
    calls: READING,
    scripts: {
      'what is listed and read': `text(JSON.stringify([await tools.list_mcp_resources({}),
        await tools.read_mcp_resource({ server: 'cm', uri: 'demo:text' })]))`,
    },
  },
  flagged('--tools read,codemode', 4 * TOOLS, '--tools', 'read,codemode'),
  flagged('--tools read', 4 * TOOLS, '--tools', 'read'),
  flagged('--tools read,tool_search', 4 * TOOLS, '--tools', 'read,tool_search'),
  flagged('--tools with the tools of one server', TOOLS, '--tools', 'read,codemode,mcp__d_i_r__*'),
  flagged('--tools with those of all', 4 * TOOLS, '--tools', 'read,codemode,mcp__*'),
  flagged('--tools with a hidden server’s', TOOLS, '--tools', 'read,codemode,mcp__hid__*'),
  flagged('--tools with those of resources', 0, '--tools', 'read,mcp__nobody__*,read_mcp_resource'),
  flagged('--tools that only adds and takes', 4 * TOOLS, '--tools', '+tool_search,-write'),
  flagged('--exclude-tools of all', 0, '--exclude-tools', 'mcp__*'),
  flagged('--exclude-tools of one server', 3 * TOOLS, '-xt', 'mcp__cm__*'),
  flagged('--exclude-tools of what lists resources', 4 * TOOLS, '-xt', 'list_mcp_*'),
  flagged('--no-builtin-tools', 4 * TOOLS, '--no-builtin-tools'),
  flagged('--exclude-tools codemode', 4 * TOOLS, '-xt', 'codemode'),
  flagged('--no-tools', 0, '--no-tools'),
]

function levelled(seen: Observation, under: Under): Observation {
  return DIFFERENCES.reduce((result, { level }) => level(result, under), seen)
}

describe('the same mcp.json under pi’s own support and under Tapline', () => {
  it.each(CONFIGURATIONS)('$name', async (configuration) => {
    const [theirs, ours] = await Promise.all(
      (['pi', 'tapline'] as const).map(async (under) => levelled(await observe(under, configuration), under)),
    )
    expect(theirs?.registered.length).toBeGreaterThanOrEqual(configuration.tools)
    expect(ours).toEqual(theirs)
  })

  it('differs in nothing that the docs do not give a reason for', () => {
    const page = readFileSync(new URL('../../../presets/pi/docs/differences.md', import.meta.url), 'utf8')
    const rows = page
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').map((cell) => cell.trim()))
    for (const { title } of DIFFERENCES) {
      const reason = rows.find(([, cell]) => cell?.startsWith(title))?.[4]
      expect(reason, `the reason for "${title}"`).toMatch(/\w+ \w+/)
    }
  })
})
