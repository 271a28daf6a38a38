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
})

const CONFIGURATIONS: readonly Configuration[] = [
  {
    name: 'every exposure',
    tools: 4 * TOOLS,
    entries: four,
    calls: ['fails', 'refuses', 'counts', 'no_hints'].map((tool) => `mcp__d_i_r__${tool}`),
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
  flagged('--tools read,codemode', 4 * TOOLS, '--tools', 'read,codemode'),
  flagged('--tools read', 4 * TOOLS, '--tools', 'read'),
  flagged('--tools read,tool_search', 4 * TOOLS, '--tools', 'read,tool_search'),
  flagged('--tools with the tools of one server', TOOLS, '--tools', 'read,codemode,mcp__d_i_r__*'),
  flagged('--tools with those of all', 4 * TOOLS, '--tools', 'read,codemode,mcp__*'),
  flagged('--exclude-tools of all', 0, '--exclude-tools', 'mcp__*'),
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
