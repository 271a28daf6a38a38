import { describe, expect, it } from 'vitest'
import { namesOf, serverSpec, serverTool, testCatalogue } from './support.ts'

const listing = (...names: readonly string[]) => ({
  tools: names.map((name) => serverTool(name)),
  problems: [],
})

describe('a list in steps', () => {
  it('is the list, one tool a step', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec({ name: 'b' }), serverSpec({ name: 'a', naming: 'original' })])
    catalogue.setTools('b', listing('z', 'y'))
    catalogue.setTools('a', listing('get'))
    const making = catalogue.steps()
    for (let step = 0; step < 3; step++) expect(making.next()).toEqual({ done: false, value: undefined })
    const last = making.next()
    expect(last.done && last.value).toEqual(catalogue.list())
  })

  it('is of the moment when it was begun', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec({ name: 'a' }), serverSpec({ name: 'b' })])
    catalogue.setTools('a', listing('one', 'two'))
    const making = catalogue.steps()
    making.next()
    catalogue.setTools('b', listing('three'))
    catalogue.setServers([])
    making.next()
    const last = making.next()
    expect(last.done && last.value.tools.map(({ name }) => name)).toEqual(['mcp__a__one', 'mcp__a__two'])
    expect(catalogue.list().tools).toEqual([])
  })

  it('that was left unfinished has given its names', async () => {
    const { catalogue } = await testCatalogue()
    const [a, b] = [
      serverSpec({ name: 'a', naming: 'original' }),
      serverSpec({ name: 'b', naming: 'original' }),
    ]
    catalogue.setServers([b])
    catalogue.setTools('b', listing('search', 'walk'))
    catalogue.steps().next()
    catalogue.setServers([a, b])
    catalogue.setTools('a', listing('search', 'walk'))
    expect(namesOf(catalogue.list().tools)).toEqual({
      'a/search': 'a_search',
      'a/walk': 'walk',
      'b/search': 'search',
      'b/walk': 'b_walk',
    })
    const other = (await testCatalogue()).catalogue
    other.setServers([b])
    other.setTools('b', listing('search'))
    other.steps({ provisional: true }).next()
    other.setServers([a, b])
    other.setTools('a', listing('search'))
    expect(namesOf(other.list().tools)).toEqual({ 'a/search': 'search', 'b/search': 'b_search' })
  })
})
