import type { AgentTask, Exposure, ServerSpec, ToolSpec } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { RESOURCE_TOOLS } from '@tapline/resources'
import { expect, it } from 'vitest'
import type { Loan } from '../../../src/session/agents/lending.ts'
import { type AgentTools, type SharedTools, toolsFor } from '../../../src/session/agents/tools.ts'
import type { PiSdk } from '../../../src/session/agents/running-copy.ts'

const NAME = 'mcp__hub__echo'

/** What a sub-agent has of a server that says `ofServer`, one of whose tools plugins have made `exposure`. */
function toolsWith(exposure: Exposure, ofServer: Exposure, override?: Partial<ServerSpec>): AgentTools {
  const name = NAME
  const base = { name: 'hub', enabled: true, exposure: ofServer, toolExposure: {}, source: { scope: 'user' } }
  const content = [{ type: 'resource_link', uri: 'x://y', name: 'y' }]
  const session = {
    status: { state: 'connected', capabilities: { resources: {} } },
    request: async () => ({ contents: [{ uri: 'x://y', text: 'what is in it' }] }),
    callTool: async () => ({ content }),
  }
  const results = { maxBytes: 20_480, overflow: 'temporary-file' }
  const server = { spec: { ...base, results }, session, settled: async () => undefined } as unknown as Server
  const tool = {
    name,
    label: 'echo',
    description: '',
    parameters: { type: 'object' },
    server: server.spec,
    serverTool: { name: 'echo', inputSchema: { type: 'object' } },
    exposure,
  } as unknown as ToolSpec
  const shared = {
    tapline: {
      projects: { holds: () => true },
      servers: [server],
      server: () => server,
      catalogue: { list: () => ({ tools: [tool] }) },
      services: { resources: { tools: RESOURCE_TOOLS } },
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
  return toolsFor({} as PiSdk, task, { shared, loan }, () => {
    throw new Error('not here')
  })
}

/** Under which of these names it has the tool of the server. */
const namesWith = (...given: Parameters<typeof toolsWith>): readonly string[] =>
  toolsWith(...given).allowed.filter((name) => name === NAME)

const call = ({ custom }: AgentTools, name: string, params: object): Promise<unknown> =>
  custom.find((tool) => tool.name === name)!.execute('1', params, undefined, undefined, {} as never)

it('has the tools of a shared server as the project exposes them', () => {
  expect(namesWith('direct', 'direct')).toHaveLength(1)
  expect(namesWith('direct', 'direct', { exposure: 'hidden' })).toHaveLength(0)
  expect(namesWith('hidden', 'hidden', { toolExposure: { echo: 'direct' } })).toHaveLength(1)
})

it('reads resources as the project exposes the server, and says so of links', async () => {
  const there = toolsWith('hidden', 'hidden', { exposure: 'codemode' })
  expect(await call(there, 'read_mcp_resource', { server: 'hub', uri: 'x://y' })).toMatchObject({
    content: [{ text: expect.stringContaining('what is in it') }],
  })
  expect(JSON.stringify(await call(there, NAME, {}))).toContain('read_mcp_resource')
  expect(toolsWith('direct', 'direct', { exposure: 'hidden' }).allowed).not.toContain('read_mcp_resource')
  expect(toolsWith('hidden', 'hidden').allowed).not.toContain('read_mcp_resource')
  const one = toolsWith('direct', 'direct', { exposure: 'hidden', toolExposure: { echo: 'direct' } })
  expect(JSON.stringify(await call(one, NAME, {}))).not.toContain('read_mcp_resource')
})

it('has no tool that a plugin has hidden, whatever a project says', () => {
  expect(namesWith('hidden', 'direct', { toolExposure: { echo: 'direct' } })).toHaveLength(0)
})
