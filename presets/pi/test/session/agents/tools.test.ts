import type { AgentTask, Exposure, ServerSpec, ToolSpec } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { expect, it } from 'vitest'
import type { Loan } from '../../../src/session/agents/lending.ts'
import { type SharedTools, toolsFor } from '../../../src/session/agents/tools.ts'
import type { PiSdk } from '../../../src/session/agents/running-copy.ts'

/** What a sub-agent has of one tool of a server that says `ofServer`, that plugins have made `exposure`. */
function namesWith(
  exposure: Exposure,
  ofServer: Exposure,
  override?: Partial<ServerSpec>,
): readonly string[] {
  const name = 'mcp__hub__echo'
  const base = { name: 'hub', enabled: true, exposure: ofServer, toolExposure: {}, source: { scope: 'user' } }
  const server = { spec: base, session: { status: { state: 'connected' } } } as unknown as Server
  const tool = {
    name,
    label: 'echo',
    description: '',
    parameters: { type: 'object' },
    server: base,
    serverTool: { name: 'echo', inputSchema: { type: 'object' } },
    exposure,
  } as unknown as ToolSpec
  const shared = {
    tapline: {
      projects: { holds: () => true },
      servers: [server],
      server: () => server,
      catalogue: { list: () => ({ tools: [tool] }) },
      services: {},
    },
    toolbox: { toolsOf: () => (exposure === 'hidden' ? [] : [name]), taken: () => false },
    paths: { cwd: '/here', home: '/home' },
  } as unknown as SharedTools
  const loan = {
    servers: [],
    server: () => undefined,
    override: () => (override ? { ...base, ...override } : undefined),
    tools: () => [],
  } as unknown as Loan
  const task = { tools: [], cwd: '/there' } as unknown as AgentTask
  const { allowed } = toolsFor({} as PiSdk, task, { shared, loan }, () => {
    throw new Error('not here')
  })
  return allowed.filter((allowedName) => allowedName === name)
}

it('has the tools of a shared server as the project exposes them', () => {
  expect(namesWith('direct', 'direct')).toHaveLength(1)
  expect(namesWith('direct', 'direct', { exposure: 'hidden' })).toHaveLength(0)
  expect(namesWith('hidden', 'hidden', { toolExposure: { echo: 'direct' } })).toHaveLength(1)
})

it('has no tool that a plugin has hidden, whatever a project says', () => {
  expect(namesWith('hidden', 'direct', { toolExposure: { echo: 'direct' } })).toHaveLength(0)
})
