import { McpClient, McpError } from '@earendil-works/pi-mcp'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callResourceTool, RESOURCE_TOOLS, type ResourceToolName } from '../src/index.ts'
import { failure, type Script, scripted } from './support.ts'

interface PiTool {
  readonly name: string
  readonly [key: string]: unknown
  execute(
    id: string,
    params: unknown,
    signal?: AbortSignal,
  ): Promise<{ structuredContent: unknown; details: { server: string } }>
}

/* pi does not export its resource tools: their file is asked. */
const { createMcpResourceToolDefinitions } = (await import(
  new URL(
    '../../../node_modules/@earendil-works/pi-coding-agent/dist/extensions/mcp/resources.js',
    import.meta.url,
  ).href
)) as { createMcpResourceToolDefinitions(options: object): PiTool[] }

/** What the server refuses, in words that both hand on. */
class Refusal extends Error {
  readonly code: number
  constructor(code: number) {
    super('refused')
    this.code = code
  }
}

/** A connection of pi over the same script: its own client, with the wire replaced. */
function connectionOfPi(name: string, script: Script) {
  const client = Object.create(McpClient.prototype) as McpClient
  client.request = async (method: string, params: never) => {
    try {
      return (await script(method, params)) as never
    } catch (thrown) {
      if (thrown instanceof Refusal) throw new McpError(thrown.code, 'refused')
      throw thrown
    }
  }
  const orNone = async <T>(list: () => Promise<T>, none: T): Promise<T> => {
    try {
      return await list()
    } catch (thrown) {
      if (thrown instanceof McpError && thrown.code === -32_601) return none
      throw thrown
    }
  }
  return {
    name,
    timeoutMs: 1,
    readResource: (uri: string) => client.readResource(uri),
    resourcesPage: (cursor?: string) => client.listResourcesPage(cursor),
    resourceTemplatesPage: (cursor?: string) =>
      orNone(() => client.listResourceTemplatesPage(cursor), { resourceTemplates: [] }),
    allResources: () => client.listResources(),
    allResourceTemplates: () => orNone(() => client.listResourceTemplates(), []),
  }
}

const refusedAs = (code: number) => failure(new McpError(code, 'refused').message, { code })

type Scripts = Readonly<Record<string, Script>>

async function theirs(tool: string, params: unknown, scripts: Scripts): Promise<unknown> {
  const servers = Object.entries(scripts).map(([name, script]) => connectionOfPi(name, script))
  const definitions = createMcpResourceToolDefinitions({ exposure: 'direct', servers: () => servers })
  const definition = definitions.find(({ name }) => name === tool)!
  try {
    const { structuredContent, details } = await definition.execute('id', params)
    return { structuredContent, text: JSON.stringify(structuredContent), server: details.server }
  } catch (thrown) {
    return (thrown as Error).message
  }
}

async function ours(tool: ResourceToolName, params: unknown, scripts: Scripts): Promise<unknown> {
  const servers = Object.entries(scripts).map(([name, script]) =>
    scripted(name, (method, given) => {
      try {
        return script(method, given)
      } catch (thrown) {
        throw thrown instanceof Refusal ? refusedAs(thrown.code) : thrown
      }
    }),
  )
  try {
    const { structuredContent, server } = await callResourceTool(tool, params, { servers })
    return { structuredContent, text: JSON.stringify(structuredContent), server }
  } catch (thrown) {
    return (thrown as Error).message
  }
}

describe('beside pi', () => {
  it('the model is told the same of the tools', () => {
    const definitions = createMcpResourceToolDefinitions({ exposure: 'direct', servers: () => [] })
    const told = definitions.map(({ execute: _execute, exposure: _exposure, ...definition }) => definition)
    expect(JSON.stringify(RESOURCE_TOOLS)).toBe(JSON.stringify(told.map(inOurOrder)))
    expect(RESOURCE_TOOLS).toEqual(told)
  })

  it('lists and reads answer the same, whatever servers say', async () => {
    await fc.assert(
      fc.asyncProperty(world, call, async (pages, { tool, params }) => {
        const scripts = Object.fromEntries(
          Object.entries(pages).map(([name, answers]) => [name, scriptOf(answers)]),
        )
        expect(await ours(tool, params, scripts)).toEqual(await theirs(tool, params, scripts))
      }),
      { numRuns: 500 },
    )
  })

  it('a server that has no templates after all has none', async () => {
    const page = (id: string, nextCursor: string) => ({
      resourceTemplates: [{ uriTemplate: id }],
      nextCursor,
    })
    const scripts = {
      one: scriptOf({
        'resources/list': [],
        'resources/templates/list': [page('file:///a', '1'), new Refusal(-32_601)],
        'resources/read': [],
      }),
    }
    const tool = 'list_mcp_resource_templates'
    expect(await ours(tool, undefined, scripts)).toEqual(await theirs(tool, undefined, scripts))
  })
})

/** The same fields, in the order in which they are written here. */
function inOurOrder(tool: object): object {
  const { name, label, description, parameters, outputSchema, annotations } = tool as Record<string, unknown>
  return { name, label, description, parameters, outputSchema, annotations }
}

const word = fc.constantFrom('a', 'b', 'c', 'é☃', '')
const uri = fc.oneof(
  word.map((name) => `file:///${name}`),
  fc.constantFrom('ui://app', 'UI://app', 'demo:x', ''),
)
const type = fc.constantFrom(
  'text/plain',
  'image/png',
  'text/html;profile=mcp-app',
  'text/html; PROFILE = "mcp-app"',
  'text/html;profile=mcp-application',
  'text/html',
)
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const listed = (id: string) =>
  fc
    .record({
      [id]: uri,
      name: optional(word),
      mimeType: optional(type),
      size: optional(fc.nat()),
      icons: optional(fc.constant([{ src: 'x' }])),
      _meta: optional(fc.constant({ secret: 1 })),
      annotations: optional(fc.constant({ audience: ['user'] })),
    })
    .map((entry) => JSON.parse(JSON.stringify(entry)) as object)
const odd = fc.constantFrom<unknown>(
  null,
  'x',
  7,
  [],
  {},
  { uri: 1 },
  { uri: 'u', name: 2 },
  { uriTemplate: [] },
)
const entries = (id: string) =>
  fc.array(fc.oneof({ weight: 12, arbitrary: listed(id) }, { weight: 1, arbitrary: odd }), { maxLength: 4 })
const cursor = fc.constantFrom<unknown>(undefined, undefined, undefined, null, '', '1', '2', 3, 'x')
const refusal = fc.constantFrom(new Refusal(-32_601), new Refusal(-32_002))
const pageOf = (key: string, id: string) =>
  fc.oneof(
    { weight: 10, arbitrary: fc.record({ [key]: entries(id), nextCursor: cursor }) },
    { weight: 1, arbitrary: refusal },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, {}, 'x', { [key]: 'x' }) },
  )
const contents = fc.oneof(
  fc.record({ uri, text: word }),
  fc.record({ uri, mimeType: type, blob: fc.constant('aGk='), _meta: fc.constant({}) }),
  fc.constantFrom<unknown>({ uri: 'u' }, { text: 'x' }, null),
)
const readable = fc.oneof(
  { weight: 8, arbitrary: fc.record({ contents: fc.array(contents, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: refusal },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, {}, { contents: {} }) },
)
const answers = fc.record({
  'resources/list': fc.array(pageOf('resources', 'uri'), { minLength: 1, maxLength: 3 }),
  'resources/templates/list': fc.array(pageOf('resourceTemplates', 'uriTemplate'), {
    minLength: 1,
    maxLength: 3,
  }),
  'resources/read': fc.array(readable, { minLength: 1, maxLength: 1 }),
})
type Answers = typeof answers extends fc.Arbitrary<infer T> ? T : never
const world = fc.dictionary(fc.constantFrom('one', 'Two', 'a-b', 'zebra'), answers, {
  maxKeys: 4,
  noNullPrototype: true,
})

/** A page by its cursor: pages without one follow the last. */
function scriptOf(all: Answers): Script {
  return (method, params) => {
    const pages = all[method as keyof Answers] as readonly unknown[]
    const index = params?.['cursor'] === undefined ? 0 : Number(params['cursor'])
    const answer = pages[index] ?? pages.at(-1)
    if (answer instanceof Refusal) throw answer
    return structuredClone(answer)
  }
}

const given = fc.constantFrom<unknown>(
  undefined,
  undefined,
  'one',
  'Two',
  ' one ',
  'a-b',
  'a_b',
  'nobody',
  '',
  null,
  5,
)
const call = fc.record({
  tool: fc.constantFrom<ResourceToolName>(
    'list_mcp_resources',
    'list_mcp_resource_templates',
    'read_mcp_resource',
  ),
  params: fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        server: given,
        cursor: fc.oneof(given, fc.constant('1')),
        uri: fc.oneof(uri, given),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, {}) },
  ),
})
