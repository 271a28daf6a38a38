import { createMcpToolName } from '@earendil-works/pi-mcp'
import type { ServerSpec } from '@tapline/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toolName } from '../src/index.ts'
import { namesOf, serverSpec, serverTool, testCatalogue } from './support.ts'

const none = () => false
const long = 'x'.repeat(80)

describe('one name', () => {
  it.each([
    ['mcp', 'docs', 'search', 'mcp__docs__search'],
    ['mcp', 'my-docs', 'get.page/v2', 'mcp__my_docs__get_page_v2'],
    ['original', 'docs', 'search', 'search'],
    ['original', 'my-docs', 'get-page', 'get-page'],
    ['original', 'docs', 'get.page', 'get_page'],
    ['original', 'docs', 'read', 'docs_read'],
    ['original', 'docs', 'codemode', 'docs_codemode'],
    ['original', 'docs', 'mcp__github__delete', 'docs_mcp__github__delete'],
    ['server', 'github', 'search_code', 'github__search_code'],
    ['server', 'my-docs', 'get page', 'my-docs__get_page'],
  ] as const)('%s: %s and %s give %s', (naming, server, tool, name) => {
    expect(toolName(naming, server, tool, none)).toBe(name)
  })

  it.each(['mcp', 'original', 'server'] as const)('%s: a long name ends in a hash', (naming) => {
    const name = toolName(naming, 'docs', long, none)
    expect(name).toMatch(/^[A-Za-z0-9_-]{55}_[0-9a-f]{8}$/)
    expect(name).not.toBe(toolName(naming, 'docs', `${long}y`, none))
  })

  it('puts the server in front of a name that is taken, then a hash at its end', () => {
    expect(toolName('original', 'docs', 'search', (name) => name === 'search')).toBe('docs_search')
    expect(toolName('original', 'docs', 'search', (name) => !name.startsWith('docs_search_'))).toMatch(
      /^docs_search_[0-9a-f]{8}$/,
    )
    expect(toolName('server', 'docs', 'search', (name) => name === 'docs__search')).toMatch(
      /^docs__search_[0-9a-f]{8}$/,
    )
  })

  it('takes more of the hash when somebody took the short one', () => {
    const short = toolName('mcp', 'docs', long, none)
    expect(toolName('mcp', 'docs', long, (name) => name === short)).toMatch(/_[0-9a-f]{16}$/)
  })
})

describe('all names of some servers', () => {
  const text = fc.oneof(
    fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'b', '_', '-', '.', '/', 'é', ' ') }),
    fc.string({ minLength: 1, maxLength: 90, unit: 'grapheme' }),
  )
  const offers = fc.record({
    naming: fc.constantFrom('mcp', 'original', 'server'),
    tools: fc.uniqueArray(text, { maxLength: 12 }),
  })
  const configuration = fc.array(offers, { minLength: 1, maxLength: 4 })
  type Offer = { readonly naming: ServerSpec['naming']; readonly tools: readonly string[] }
  const names = ['a', 'a_b', 'b-a', 'c']

  const assign = async (
    servers: readonly Offer[],
    taken: readonly string[],
    order: (tools: readonly string[]) => readonly string[],
  ) => {
    const { catalogue } = await testCatalogue({ taken: (name) => taken.includes(name) })
    catalogue.setServers(
      servers.map(({ naming }, index) => serverSpec({ name: names[index] as string, naming })),
    )
    servers.forEach(({ tools }, index) =>
      catalogue.setTools(names[index] as string, {
        tools: order(tools).map((tool) => serverTool(tool)),
        problems: [],
      }),
    )
    return catalogue.list()
  }

  it('are unique, acceptable to every provider and complete', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, fc.array(text, { maxLength: 3 }), async (servers, taken) => {
        const { tools, setAside } = await assign(servers, taken, (list) => list)
        const given = tools.map((tool) => tool.name)
        expect(new Set(given).size).toBe(given.length)
        for (const name of given) {
          expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
          expect(taken).not.toContain(name)
        }
        expect(setAside).toEqual([])
        expect(given.length).toBe(servers.reduce((sum, server) => sum + server.tools.length, 0))
      }),
      { numRuns: 300 },
    )
  })

  it('do not depend on the order of the lists', async () => {
    await fc.assert(
      fc.asyncProperty(configuration, async (servers) => {
        const forward = await assign(servers, [], (list) => list)
        const backward = await assign(servers, [], (list) => list.toReversed())
        expect(JSON.stringify(backward)).toBe(JSON.stringify(forward))
      }),
      { numRuns: 200 },
    )
  })

  it('equal those of pi for mcp.json', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(text, { maxLength: 20 }), async (tools) => {
        const server = 'my-docs'
        // What pi's extension does with a server's list.
        const plain = tools.map((tool) => createMcpToolName(server, tool))
        const current = new Set<string>()
        const expected: Record<string, string> = {}
        for (const tool of tools.toSorted((a, b) => (a < b ? -1 : 1))) {
          const name = createMcpToolName(
            server,
            tool,
            (candidate) =>
              current.has(candidate) || plain.indexOf(candidate) !== plain.lastIndexOf(candidate),
          )
          current.add(name)
          expected[`${server}/${tool}`] = name
        }
        const { catalogue } = await testCatalogue()
        catalogue.setServers([serverSpec({ name: server })])
        catalogue.setTools(server, { tools: tools.map((tool) => serverTool(tool)), problems: [] })
        expect(namesOf(catalogue.list().tools)).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  it('keep two tools that differ in one sign apart, both with a hash', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', { tools: [serverTool('get-page'), serverTool('get_page')], problems: [] })
    const { 'docs/get-page': dash, 'docs/get_page': low } = namesOf(catalogue.list().tools)
    expect(dash).toMatch(/^mcp__docs__get_page_[0-9a-f]{8}$/)
    expect(low).toMatch(/^mcp__docs__get_page_[0-9a-f]{8}$/)
    expect(dash).not.toBe(low)
  })

  it('leave an original name to the tool that is called so', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec({ naming: 'original' })])
    catalogue.setTools('docs', {
      tools: ['get.page', 'get_page'].map((name) => serverTool(name)),
      problems: [],
    })
    expect(namesOf(catalogue.list().tools)).toEqual({
      'docs/get.page': 'docs_get_page',
      'docs/get_page': 'get_page',
    })
  })
})
