import type { Plugin, ServerTool, Session } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { createCatalogue, diffTools } from '../src/index.ts'
import { namesOf, serverSpec, serverTool, testCatalogue } from './support.ts'

const listing = (...tools: ServerTool[]) => ({ tools, problems: [] })
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the list', () => {
  it('is sorted by the names that the model sees, whatever the order of servers and tools', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([
      serverSpec({ name: 'b' }),
      serverSpec({ name: 'a', naming: 'server' }),
      serverSpec({ name: 'c', naming: 'original' }),
    ])
    catalogue.setTools('b', listing(serverTool('z'), serverTool('a')))
    catalogue.setTools('a', listing(serverTool('x')))
    catalogue.setTools('c', listing(serverTool('get')))
    expect(catalogue.list().tools.map((tool) => tool.name)).toEqual(['a__x', 'get', 'mcp__b__a', 'mcp__b__z'])
  })

  it('sets a bad tool aside, says why, and keeps the rest', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', {
      tools: [
        serverTool('bad', { inputSchema: { type: 'array' } }),
        serverTool('worse', { inputSchema: 'x' }),
        serverTool('good'),
      ],
      problems: ['Tool "good" is listed twice; the first one counts.'],
    })
    const { tools, setAside, diagnostics } = catalogue.list()
    expect(tools.map((tool) => tool.serverTool.name)).toEqual(['good'])
    expect(setAside.map((tool) => tool.serverTool.name)).toEqual(['bad', 'worse'])
    expect(diagnostics.map(({ severity, message }) => [severity, message])).toEqual([
      ['warning', 'Server "docs": Tool "good" is listed twice; the first one counts.'],
      [
        'warning',
        'Tool "bad" of server "docs" is not offered: its input schema cannot be used: its type is "array", not "object".',
      ],
      [
        'warning',
        'Tool "worse" of server "docs" is not offered: its input schema cannot be used: it is not an object.',
      ],
    ])
  })

  it('says ten things about a server and counts the others', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec()])
    catalogue.setTools(
      'docs',
      listing(...Array.from({ length: 30 }, (_, index) => serverTool(`t${index}`, { inputSchema: 1 }))),
    )
    const { diagnostics } = catalogue.list()
    expect(diagnostics).toHaveLength(11)
    expect(diagnostics.at(-1)?.message).toBe('Server "docs": 20 more of this kind.')
  })

  it('lets the server that comes first keep an original name', async () => {
    const { catalogue } = await testCatalogue({ taken: (name) => name === 'fetch' })
    catalogue.setServers(['a', 'b'].map((name) => serverSpec({ name, naming: 'original' })))
    catalogue.setTools('b', listing(serverTool('search'), serverTool('fetch')))
    catalogue.setTools('a', listing(serverTool('search')))
    expect(namesOf(catalogue.list().tools)).toEqual({
      'a/search': 'search',
      'b/search': 'b_search',
      'b/fetch': 'b_fetch',
    })
  })

  it('never gives a name to another tool once it was given', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers(['a', 'b'].map((name) => serverSpec({ name, naming: 'original' })))
    catalogue.setTools('b', listing(serverTool('search')))
    expect(namesOf(catalogue.list().tools)).toEqual({ 'b/search': 'search' })
    catalogue.setTools('a', listing(serverTool('search')))
    expect(namesOf(catalogue.list().tools)).toEqual({ 'b/search': 'search', 'a/search': 'a_search' })
    catalogue.setServers([serverSpec({ name: 'a', naming: 'original' })])
    expect(namesOf(catalogue.list().tools)).toEqual({ 'a/search': 'a_search' })
  })

  it('keeps the names that were given in the factory, also where the host knows them already', async () => {
    const given = [{ name: 'search', server: 'b', tool: 'search' }]
    const { catalogue } = await testCatalogue({ given, taken: (name) => name === 'search' })
    catalogue.setServers(['a', 'b'].map((name) => serverSpec({ name, naming: 'original' })))
    for (const name of ['a', 'b']) catalogue.setTools(name, listing(serverTool('search')))
    expect(namesOf(catalogue.list().tools)).toEqual({ 'b/search': 'search', 'a/search': 'a_search' })
  })

  it('has no tools of disabled servers and of those that are gone', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec({ name: 'a', enabled: false }), serverSpec({ name: 'b' })])
    for (const name of ['a', 'b', 'c']) catalogue.setTools(name, listing(serverTool('x')))
    expect(namesOf(catalogue.list().tools)).toEqual({ 'b/x': 'mcp__b__x' })
    catalogue.setServers([])
    expect(catalogue.list()).toEqual({ tools: [], setAside: [], diagnostics: [] })
    expect(catalogue.listingOf('b')).toBeUndefined()
  })
})

describe('other plugins', () => {
  const plugin = (tap: Plugin['setup']): Plugin => ({ name: 'other', api: 1, setup: tap })

  it('may change and hide tools', async () => {
    const other = plugin(({ hooks }) =>
      hooks.registerTool.tap({ stage: 'late' }, (tool) =>
        tool.serverTool.name === 'secret'
          ? { ...tool, hidden: 'it is secret' }
          : { ...tool, description: 'reviewed' },
      ),
    )
    const { catalogue } = await testCatalogue({}, [other])
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', listing(serverTool('secret'), serverTool('open')))
    const { tools, diagnostics } = catalogue.list()
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['mcp__docs__open', 'reviewed'],
    ])
    expect(diagnostics[0]?.message).toBe('Tool "secret" of server "docs" is not offered: it is secret.')
  })

  it.each([
    [
      'a name that no model accepts',
      (tool: object) => ({ ...tool, name: 'a b' }),
      'no model accepts its name "a b"',
    ],
    [
      'one name for all',
      (tool: object) => ({ ...tool, name: 'same' }),
      'another tool already has the name "same"',
    ],
  ])('that answer %s take only their tools down', async (_what, answer, reason) => {
    const other = plugin(({ hooks }) =>
      hooks.registerTool.tap({ stage: 'late' }, (tool) =>
        tool.serverTool.name === 'a' ? undefined : (answer(tool) as typeof tool),
      ),
    )
    const { catalogue } = await testCatalogue({ taken: (name) => name === 'same' }, [other])
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', listing(serverTool('a'), serverTool('b')))
    const { tools, setAside } = catalogue.list()
    expect(tools.map((tool) => tool.name)).toEqual(['mcp__docs__a'])
    expect(setAside[0]?.hidden).toContain(reason)
  })

  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const LIES: [string, (tool: object) => object][] = [
    ['no tool', () => []],
    ['no name', (tool) => ({ ...tool, name: undefined })],
    ['no schema', (tool) => ({ ...tool, parameters: 7 })],
    ['no text', (tool) => ({ ...tool, description: 7 })],
    ['an unknown exposure', (tool) => ({ ...tool, exposure: 'loud' })],
    ['a schema in a circle', (tool) => ({ ...tool, parameters: cyclic })],
    ['a schema with a BigInt', (tool) => ({ ...tool, parameters: { maximum: 1n } })],
  ]

  it.each(LIES)('that answer %s are blamed, and the tool stays as it was', async (_what, answer) => {
    const other = plugin(({ hooks }) =>
      hooks.registerTool.tap({ stage: 'late' }, (tool) => answer(tool) as typeof tool),
    )
    const { catalogue, reports } = await testCatalogue({}, [other])
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', listing(serverTool('a')))
    expect(catalogue.list().tools.map((tool) => tool.name)).toEqual(['mcp__docs__a'])
    expect(reports.map(({ code, place }) => [code, place.plugin])).toEqual([['TAP_FAILED', 'other']])
  })

  it.each(LIES)('that answer %s to an unguarded hook take only their tools down', (_what, answer) => {
    const catalogue = createCatalogue({
      registerTool: { call: (tool) => (tool.name === 'a' ? tool : (answer(tool) as typeof tool)) },
    })
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', listing(serverTool('a'), serverTool('b')))
    const { tools, setAside } = catalogue.list()
    expect(tools.map((tool) => tool.name)).toEqual(['a'])
    expect(setAside[0]?.hidden).toMatch(/not a tool|cannot be written as JSON/)
    expect(JSON.stringify(setAside)).toContain('"b"')
  })

  it('that guard tools and fail take the tool down, never let it through', async () => {
    const other = plugin(({ hooks }) =>
      hooks.registerTool.tap({ critical: true }, () => {
        throw new Error('no policy')
      }),
    )
    const { catalogue } = await testCatalogue({}, [other])
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', listing(serverTool('a')))
    expect(catalogue.list().setAside[0]?.hidden).toContain('no policy')
  })
})

describe('changes', () => {
  it('are what was added, changed and removed', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', listing(serverTool('same'), serverTool('old'), serverTool('other')))
    const before = catalogue.list().tools
    catalogue.setTools(
      'docs',
      listing(serverTool('same'), serverTool('new'), serverTool('other', { description: 'now' })),
    )
    const { added, changed, removed } = diffTools(before, catalogue.list().tools)
    expect([added, changed, removed].map((list) => list.map((tool) => tool.serverTool.name))).toEqual([
      ['new'],
      ['other'],
      ['old'],
    ])
    expect(diffTools(before, before)).toEqual({ added: [], changed: [], removed: [] })
  })

  it('are told once for each list that is news', async () => {
    const told: string[] = []
    const { catalogue } = await testCatalogue({ onChange: (server) => void told.push(server) })
    catalogue.setServers([serverSpec()])
    expect(catalogue.setTools('docs', listing(serverTool('a')))).toBe(true)
    expect(catalogue.setTools('docs', listing(serverTool('a')))).toBe(false)
    expect(told).toEqual(['docs'])
  })
})

describe('refresh', () => {
  /** A session whose list has one tool more each time. */
  const growing = (name = 'docs', delayed: Promise<void> = Promise.resolve()) => {
    const session = {
      server: serverSpec({ name }),
      lists: 0,
      listTools: async () => {
        session.lists += 1
        const count = session.lists
        await delayed
        return { tools: Array.from({ length: count }, (_, index) => serverTool(`t${index}`)) }
      },
    }
    return session satisfies Pick<Session, 'listTools' | 'server'>
  }

  it('costs two lists, however often the server says that its list has changed', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec()])
    const session = growing()
    const first = catalogue.refresh(session)
    await Promise.resolve()
    await Promise.all([first, ...Array.from({ length: 100 }, () => catalogue.refresh(session))])
    expect(session.lists).toBeLessThanOrEqual(2)
    expect(catalogue.list().tools).toHaveLength(session.lists)
  })

  it('keeps the old list when the new one cannot be had', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec()])
    await catalogue.refresh(growing())
    await expect(
      catalogue.refresh({ server: serverSpec(), listTools: () => Promise.reject(new Error('gone')) }),
    ).rejects.toThrow('gone')
    expect(catalogue.list().tools).toHaveLength(1)
  })

  it('does not let a server that is gone come back', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec()])
    let release = (): void => undefined
    const late = catalogue.refresh(growing('docs', new Promise((resolve) => (release = resolve))))
    await turn()
    catalogue.setServers([])
    release()
    await late
    expect(catalogue.listingOf('docs')).toBeUndefined()
  })
})
