import type { Exposure } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { describe, expect, it } from 'vitest'
import { toolExposure, tools } from '../src/index.ts'
import { serverTool, testCatalogue, serverSpec, toolSpec } from './support.ts'

/** One tool through the hook, as a catalogue sends it. */
async function offered(server: Parameters<typeof serverSpec>[0], tool: Parameters<typeof serverTool>[1]) {
  const { catalogue } = await testCatalogue()
  catalogue.setServers([serverSpec(server)])
  catalogue.setTools('docs', { tools: [serverTool('search', tool)], problems: [] })
  return catalogue.list().tools[0]
}

describe('what the model reads', () => {
  it.each([
    ['the description', { description: '  Searches.\nTwo lines.  ', title: 'T' }, 'Searches.\nTwo lines.'],
    ['the title', { title: 'Search it', description: ' ' }, 'Search it'],
    ['the annotations’ title', { annotations: { title: 'Find' } }, 'Find'],
    ['the server', {}, 'MCP tool search from server docs'],
  ])('is %s', async (_what, tool, description) => {
    expect((await offered({}, tool))?.description).toBe(description)
  })

  it('has no control, escape and bidi characters, and an end', async () => {
    const hostile = 'a\u001B]0;title\u0007b\u0000\u202Ec\u{E0041}\uD800' + 'x'.repeat(100_000)
    const description = (await offered({}, { description: hostile }))?.description ?? ''
    expect(description.startsWith('abc\uFFFDxx')).toBe(true)
    expect(description).toHaveLength(8_192)
  })
})

it.each([
  ['mcp', 'docs/search'],
  ['original', 'docs: search'],
  ['server', 'docs__search'],
] as const)('labels tools of %s names', async (naming, label) => {
  expect((await offered({ naming }, {}))?.label).toBe(label)
})

it('passes on the boolean hints, and nothing else, as annotations', async () => {
  const annotations = { readOnlyHint: true, destructiveHint: 'no', title: 'x' } as unknown as {
    readOnlyHint: boolean
  }
  expect((await offered({}, { annotations }))?.annotations).toEqual({ readOnlyHint: true })
  expect(await offered({}, { annotations: { title: 'x' } })).not.toHaveProperty('annotations')
})

it('drops an output schema that cannot be used, and keeps the tool', async () => {
  const good = await offered({}, { outputSchema: { properties: { b: {}, a: {} } } })
  expect(JSON.stringify(good?.outputSchema)).toBe('{"properties":{"a":{},"b":{}}}')
  expect(await offered({}, { outputSchema: { type: 7 } })).not.toHaveProperty('outputSchema')
})

describe('exposure', () => {
  const toolExposures = {
    search: 'direct',
    'se*': 'deferred',
    's*h': 'hidden',
    '*_code_*': 'codemode',
    'a*a': 'direct',
  } as const
  it.each<[string, Exposure]>([
    ['search', 'direct'],
    ['see', 'deferred'],
    ['smooth', 'hidden'],
    ['find_code_now', 'codemode'],
    ['find_code', 'codemode'],
    ['aa', 'direct'],
    ['a', 'codemode'],
    ['toString', 'codemode'],
  ])('of %s is %s', (name, exposure) => {
    expect(toolExposure(serverSpec({ toolExposure: toolExposures }), name)).toBe(exposure)
  })

  it('matches in linear time', () => {
    const pattern = `${'*a'.repeat(30)}b`
    expect(toolExposure(serverSpec({ toolExposure: { [pattern]: 'hidden' } }), 'a'.repeat(1_000))).toBe(
      'codemode',
    )
  })
})

it('is a plugin that works without a catalogue', async () => {
  const { kernel, reports, dispose } = await testKernel(tools())
  const tool = kernel.hooks.registerTool.call(toolSpec({}, { description: 'Finds.' }), { taken: () => false })
  expect(tool).toMatchObject({ name: 'mcp__docs__search', exposure: 'codemode' })
  expect(reports).toEqual([])
  await dispose()
})
