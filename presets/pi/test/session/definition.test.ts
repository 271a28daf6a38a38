import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { ToolSpec } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { describe, expect, it } from 'vitest'
import { definitionOf } from '../../src/session/definition.ts'
import { createToolbox } from '../../src/session/toolbox.ts'

const spec = (description?: string): ToolSpec =>
  ({
    name: 'mcp__docs__search',
    label: 'docs/search',
    description: 'Searches',
    parameters: {},
    exposure: 'codemode',
    server: { name: 'docs', naming: 'mcp', ...(description === undefined ? {} : { description }) },
    serverTool: { name: 'search', inputSchema: {} },
  }) as unknown as ToolSpec

describe('the namespace of a server', () => {
  it('has its words without what could steer a terminal, trimmed and bounded', () => {
    const { namespace } = definitionOf(spec(' Docs\n '), ' Use\u001B[2J \u202Eit.\n\nThen stop. ')
    expect(namespace).toEqual({
      name: 'mcp__docs',
      aliases: ['docs'],
      description: 'Docs',
      instructions: 'Use it.\n\nThen stop.',
    })
    expect(definitionOf(spec(), 'x'.repeat(100_000)).namespace?.instructions).toHaveLength(8_192)
  })

  it('has none where there are only blanks', () => {
    expect(definitionOf(spec('  '), '\n').namespace).toEqual({ name: 'mcp__docs', aliases: ['docs'] })
  })
})

describe('a tool that the model still knows', () => {
  it.each([
    ['of a server that is off', { enabled: false }, 'connected', 'MCP server "docs" is disabled.'],
    ['of one that connects', { enabled: true }, 'connecting', 'MCP server "docs" is still starting.'],
    ['that is gone', { enabled: true }, 'connected', 'MCP tool "mcp__docs__search" is no longer available.'],
  ])('%s says so', async (_what, { enabled }, state, message) => {
    const toolbox = createToolbox({
      pi: {
        getAllTools: () => [],
        getActiveTools: () => [],
        setActiveTools: () => undefined,
        registerTool: () => undefined,
      } as unknown as ExtensionAPI,
      paths: { agentDir: '/nowhere', home: '/nowhere', cwd: '/nowhere', loopsDir: '/nowhere/loops' },
      early: { names: new Set(), definitions: [], instructions: {} },
      notices: {
        say: () => undefined,
        setAside: () => undefined,
        holdUntil: () => undefined,
        close: () => undefined,
      },
      onApplied: () => undefined,
    })
    let offered: readonly ToolSpec[] = [spec()]
    const server = {
      spec: { name: 'docs', enabled },
      session: { status: { state } },
      listed: state === 'connected',
    }
    const tapline = {
      servers: [],
      server: (name: string) => (name === 'docs' ? (server as unknown as Server) : undefined),
      settings: {},
      services: {},
      kernel: { plugins: [], hooks: { registerTool: { taps: [] } } },
      catalogue: {
        *steps() {
          yield
          return { tools: offered, setAside: [], diagnostics: [] }
        },
      },
    }
    toolbox.use(tapline as unknown as Tapline)
    offered = []
    await toolbox.applyNow()
    const call = toolbox.call('mcp__docs__search', 'id', {}, undefined, undefined, {} as never)
    await expect(call).rejects.toThrow(message)
    await toolbox.close()
  })
})
