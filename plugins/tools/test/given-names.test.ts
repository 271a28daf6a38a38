import { describe, expect, it } from 'vitest'
import { serverSpec, serverTool, testCatalogue } from './support.ts'

const listing = (name: string) => ({ tools: [serverTool(name)], problems: [] })

describe('a name', () => {
  it('stays with the tool that got it, whoever comes later', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([
      serverSpec({ name: 'first', naming: 'original' }),
      serverSpec({ name: 'second', naming: 'original' }),
    ])
    catalogue.setTools('second', listing('get'))
    expect(catalogue.list().tools.map(({ name }) => name)).toEqual(['get'])
    catalogue.setTools('first', listing('get'))
    const names = catalogue.list().tools.map(({ server, name }) => [server.name, name])
    expect(names).toEqual([
      ['first', 'first_get'],
      ['second', 'get'],
    ])
  })

  it('is given to nobody by a provisional list', async () => {
    const { catalogue } = await testCatalogue()
    catalogue.setServers([
      serverSpec({ name: 'first', naming: 'original' }),
      serverSpec({ name: 'second', naming: 'original' }),
    ])
    catalogue.setTools('second', listing('get'))
    expect(catalogue.list({ provisional: true }).tools.map(({ name }) => name)).toEqual(['get'])
    catalogue.setTools('first', listing('get'))
    for (const provisional of [true, false]) {
      const names = catalogue.list({ provisional }).tools.map(({ server, name }) => [server.name, name])
      expect(names).toEqual([
        ['first', 'get'],
        ['second', 'second_get'],
      ])
    }
  })
})
