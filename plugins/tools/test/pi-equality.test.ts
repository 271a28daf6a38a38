import { limitMcpContent, mcpNamespace, toLlmContent } from '@earendil-works/pi-mcp'
import type { CallToolResult, ToolSpec } from '@tapline/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limitContent, resultSchema, toModelResult, toolNamespace } from '../src/index.ts'
import { serverSpec, testCatalogue, toolSpec } from './support.ts'

/* pi does not export what turns a result into a tool result: its file is asked. */
const { convertMcpResult, createMcpResultSchema, createMcpToolDefinition } = (await import(
  new URL(
    '../../../node_modules/@earendil-works/pi-coding-agent/dist/extensions/mcp/tools.js',
    import.meta.url,
  ).href
)) as {
  convertMcpResult(
    server: string,
    tool: string,
    result: CallToolResult,
    options: object,
  ): Promise<{ content: unknown; details: unknown; structuredContent: unknown; isError?: boolean }>
  createMcpResultSchema(schema?: object): object
  createMcpToolDefinition(options: object): Pick<ToolSpec, 'name' | 'label' | 'description' | 'annotations'>
}

const saveFile = async (_data: unknown, extension: string) => `/tmp/saved${extension}`
const spec = toolSpec({ name: 'docs' }, { name: 'search' })

async function both(result: CallToolResult) {
  const theirs = await convertMcpResult('docs', 'search', structuredClone(result), {
    saveOutput: saveFile,
    readableResources: true,
  })
  const { content, details, full, isError } = await toModelResult(result, spec, {
    saveFile,
    readableResources: true,
  })
  return {
    ours: { content, details, structuredContent: full, isError },
    theirs: { ...theirs, isError: theirs.isError === true },
  }
}

const line = fc.string({ maxLength: 30 })
const text = fc.oneof(
  line,
  fc.string({ maxLength: 30, unit: 'grapheme' }),
  fc.integer({ min: 1, max: 40_000 }).map((size) => 'é\n'.repeat(size)),
)
const name = fc.string({ minLength: 1, maxLength: 10, unit: fc.constantFrom('a', 'b', '1', '-') })
const base64 = fc
  .uint8Array({ minLength: 3, maxLength: 60 })
  .map((bytes) => Buffer.from(bytes).toString('base64'))
const uri = name.map((path) => `file:///${path}.dat`)
const mimeType = fc.constantFrom(
  'text/plain',
  'application/json; charset=utf-8',
  'application/pdf',
  'image/svg',
)
const block = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({
    type: fc.constant('image' as const),
    data: base64,
    mimeType: fc.constantFrom('image/webp', 'image/gif'),
  }),
  fc.record({ type: fc.constant('audio' as const), data: base64, mimeType: fc.constant('audio/wav') }),
  fc.record(
    {
      type: fc.constant('resource_link' as const),
      uri,
      name,
      title: name,
      description: name,
      mimeType,
      size: fc.nat(),
    },
    { requiredKeys: ['type', 'uri', 'name'] },
  ),
  fc.record({ type: fc.constant('resource' as const), resource: fc.record({ uri, text, mimeType }) }),
  fc
    .record({
      uri,
      blob: base64,
      mimeType: fc.constantFrom('text/plain', 'application/pdf', 'application/x+xml'),
    })
    .map((resource) => ({ type: 'resource' as const, resource })),
  fc.record({ type: fc.constant('future' as const) }),
)
const result = fc.record(
  {
    content: fc.array(block, { maxLength: 4 }),
    structuredContent: fc.jsonValue({ maxDepth: 2 }),
    isError: fc.boolean(),
    _meta: fc.constant({ a: 1 }),
  },
  { requiredKeys: ['content'] },
) as unknown as fc.Arbitrary<CallToolResult>

describe('results of mcp.json’s servers', () => {
  it('are those of pi', async () => {
    await fc.assert(
      fc.asyncProperty(result, async (given) => {
        const { ours, theirs } = await both(given)
        expect(ours).toEqual(theirs)
      }),
      { numRuns: 200 },
    )
  })

  it('are those of pi when nothing can be saved', async () => {
    const failing = () => Promise.reject(new Error('disk full'))
    const given: CallToolResult = { content: [{ type: 'text', text: 'x'.repeat(30_000) }] }
    const theirs = await convertMcpResult('docs', 'search', given, { saveOutput: failing })
    const ours = await toModelResult(given, spec, { saveFile: failing })
    expect(ours.content).toEqual(theirs.content)
    expect(ours.details).toEqual(theirs.details)
  })

  it('agree with pi-mcp for what it maps by itself', async () => {
    const simple = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text }),
      fc.record({ type: fc.constant('audio' as const), data: base64, mimeType: fc.constant('audio/ogg') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(simple, { maxLength: 4 }), async (content) => {
        const theirs = await limitMcpContent(toLlmContent({ content }), saveFile)
        const ours = await toModelResult({ content }, spec, { saveFile })
        expect(ours.content).toEqual(theirs.content)
      }),
      { numRuns: 100 },
    )
  })
})

it('cuts as pi-mcp does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 6_000, maxLength: 30_000, unit: 'grapheme' }), async (long) => {
      const content = [{ type: 'text' as const, text: long }]
      expect(await limitContent(content, { maxBytes: 20 * 1024, hard: false, saveFile })).toEqual(
        await limitMcpContent(content, saveFile),
      )
    }),
    { numRuns: 50 },
  )
})

it('labels, describes and annotates as pi does', async () => {
  const tool = fc.record(
    {
      name,
      title: name,
      description: name,
      inputSchema: fc.constant({}),
      annotations: fc.record({ title: name, readOnlyHint: fc.boolean() }, { requiredKeys: [] }),
    },
    { requiredKeys: ['name', 'inputSchema'] },
  )
  await fc.assert(
    fc.asyncProperty(tool, async (given) => {
      const { catalogue } = await testCatalogue()
      catalogue.setServers([serverSpec()])
      catalogue.setTools('docs', { tools: [given], problems: [] })
      const [ours] = catalogue.list().tools
      const theirs = createMcpToolDefinition({
        server: 'docs',
        tool: given,
        name: 'x',
        exposure: 'direct',
        namespace: {},
      })
      expect(ours).toMatchObject({
        label: theirs.label,
        ...(theirs.annotations ? { annotations: theirs.annotations } : {}),
      })
      expect(ours?.description).toBe(theirs.description)
    }),
    { numRuns: 200 },
  )
})

it('declares what scripts get as pi does', () => {
  const output = {
    $defs: { A: { type: 'string' } },
    properties: {
      a: { $ref: '#/$defs/A' },
      self: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
      data: { const: { $ref: '#/$defs/A' }, enum: [{ $ref: '#' }] },
      $ref: { type: 'string' },
    },
    patternProperties: { '^x': { items: { $ref: '#/$defs/A' } } },
  }
  expect(resultSchema(output)).toEqual(createMcpResultSchema(output))
  expect(resultSchema()).toEqual(createMcpResultSchema())
  const resource = { $id: 'https://example.com/a', properties: { a: { $ref: '#/$defs/A' } } }
  expect(resultSchema(resource)).toMatchObject({ properties: { structuredContent: resource } })
})

it('groups tools in the namespaces of pi', () => {
  fc.assert(
    fc.property(name, (server) => {
      expect(toolNamespace(server)).toBe(mcpNamespace(server))
    }),
  )
})
