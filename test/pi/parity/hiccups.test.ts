import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { noticed, PATIENCE_MS } from '../stage.ts'
import { declaredBy, openSide, type Under } from './side.ts'

const SIDES: readonly Under[] = ['pi', 'tapline']

// Most of the time they wait.
describe.concurrent('an HTTP server that is overloaded when a session starts', () => {
  it.each([1, 2])('is asked again, %d times, before the first prompt goes on', async (count) => {
    const seen = await Promise.all(
      SIDES.map(async (under) => {
        await using server = await startHttpFixture(servers.httpMisbehaving)
        await server.control({ do: 'error', for: 'initialize', status: 503, count })
        const web = { scripted: false, url: server.url, exposure: 'direct' }
        await using side = await openSide(under, { entries: { web } })
        return declaredBy(await side.prompt())
          .filter((name) => name.startsWith('mcp__'))
          .toSorted()
      }),
    )
    expect(seen[0]).toContain('mcp__web__echo')
    expect(seen[1]).toEqual(seen[0])
  })

  it('is told of after the third time', async () => {
    const told = SIDES.map(async (under) => {
      await using server = await startHttpFixture(servers.httpMisbehaving)
      await server.control({ do: 'error', for: 'initialize', status: 503, count: 3 })
      const web = { scripted: false, url: server.url, exposure: 'direct' }
      await using side = await openSide(under, { entries: { web } })
      expect(declaredBy(await side.prompt()).filter((name) => name.startsWith('mcp__'))).toEqual([])
      expect(await noticed(side.pi, /web/)).toMatch(/503/)
      if (under === 'pi') return
      // Tapline goes on trying by itself.
      await waitUntil(
        async () => declaredBy(await side.prompt()).includes('mcp__web__echo'),
        PATIENCE_MS,
        'the tools of the server',
      )
    })
    await Promise.all(told)
  })
})
