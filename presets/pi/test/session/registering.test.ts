import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { ToolSpec } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../src/session/registry.ts'
import { sourcesText } from '../../src/session/sources-text.ts'
import { createToolbox, type Toolbox } from '../../src/session/toolbox.ts'

const tool = (name: string, parameters: Record<string, unknown> = {}): ToolSpec =>
  ({
    name,
    label: name,
    description: name,
    parameters,
    exposure: 'direct',
    server: { name: 'docs' },
    serverTool: { name, inputSchema: {} },
  }) as unknown as ToolSpec

const fakePi = (registered: string[]) =>
  ({
    getAllTools: () => [],
    registerTool: ({ name }: { name: string }) => {
      if (name === 'refused') throw new Error('pi says no')
      registered.push(name)
    },
  }) as unknown as ExtensionAPI

describe('the registry', () => {
  it('registers the rest when one tool cannot be', () => {
    const registered: string[] = []
    const refused: string[] = []
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const registry = createRegistry(
      fakePi(registered),
      new Set(),
      () => Promise.reject(new Error('not called')),
      (name) => refused.push(name),
    )
    const tools = [tool('a'), tool('cyclic', cyclic), tool('big', { n: 1n }), tool('refused'), tool('z')]
    registry.apply(tools, () => undefined)
    expect(registered).toEqual(['a', 'z'])
    expect(refused).toEqual(['cyclic', 'big', 'refused'])
    expect(registry.definitions().map(({ name }) => name)).toEqual(['a', 'z'])
  })
})

it('lets nothing escape from the toolbox, and says it once', () => {
  const said: string[] = []
  const toolbox = createToolbox({
    pi: fakePi([]),
    paths: { agentDir: '/nowhere', home: '/nowhere', cwd: '/nowhere', loopsDir: '/nowhere/loops' },
    cachedNames: new Set(),
    notices: {
      say: ({ message }) => said.push(message),
      setAside: () => undefined,
      holdUntil: () => undefined,
      close: () => undefined,
    },
    onApplied: () => undefined,
  })
  const broken = {
    servers: [],
    settings: {},
    kernel: { plugins: [], hooks: { registerTool: { taps: [] } } },
    catalogue: {
      list: () => {
        throw new Error('no list')
      },
    },
  }
  toolbox.use(broken as unknown as Tapline)
  expect(said).toEqual(['MCP tools could not be registered: no list'])
})

it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300])('lists events of the time %o', (time) => {
  const book = {
    counts: {},
    lastEventAt: time,
    recent: [{ ts: time, method: 'm', summary: 'odd', state: 'delivered' }],
  }
  const server = {
    spec: {
      name: 'docs',
      enabled: true,
      push: {},
      transport: { type: 'stdio' },
      source: { scope: 'user' },
    },
    session: { status: { state: 'connected', report: {} } },
  } as unknown as Server
  const tapline = { servers: [server], services: {}, diagnostics: [], pipeline: { book: () => book } }
  const text = sourcesText(tapline as unknown as Tapline, { toolsOf: () => [] } as unknown as Toolbox)
  expect(text).toContain('last_event=unknown')
  expect(text).toContain('unknown odd: delivered')
})
