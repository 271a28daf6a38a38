import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PromptedServer, serversSection } from '../src/servers-section.ts'

type Exposures = readonly ('codemode' | 'deferred' | 'direct' | 'hidden')[]
interface Given {
  readonly name: string
  readonly exposures: Exposures
  readonly description?: string
  readonly instructions?: string
}

/** What pi's own support says of the same servers. */
async function ofPi(servers: readonly Given[]): Promise<string | undefined> {
  const pi = path.dirname(fileURLToPath(import.meta.resolve('@earendil-works/pi-coding-agent')))
  const { renderServersSection } = (await import(
    pathToFileURL(path.join(pi, 'extensions/mcp/index.js')).href
  )) as { renderServersSection(servers: readonly object[]): string | undefined }
  return renderServersSection(
    servers.map(({ name, exposures: [exposure, ...others], description, instructions }) => ({
      entry: {
        name,
        config: { exposure, toolExposure: Object.fromEntries(others.map((one, i) => [i, one])), description },
      },
      connection: { instructions },
    })),
  )
}

const ours = (servers: readonly Given[]): string | undefined =>
  serversSection(
    servers.map((server): PromptedServer => ({ ...server, exposures: new Set(server.exposures) })),
  )

describe('what the prompt says of servers', () => {
  it('is what pi’s own support says, for any servers with plain words', async () => {
    const words = fc.string({
      unit: fc.constantFrom('a', 'B', ' ', '\n', '-', '&', 'é', '☃', '🦀'),
      maxLength: 400,
    })
    const server = fc.record({
      name: fc.stringMatching(/^[A-Za-z0-9_-]{1,60}$/),
      exposures: fc.array(fc.constantFrom('codemode', 'deferred', 'direct', 'hidden'), {
        minLength: 1,
        maxLength: 3,
      }),
      description: fc.option(words, { nil: undefined }),
      instructions: fc.option(words, { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(server, { maxLength: 120 }), async (servers) => {
        const given = servers as readonly Given[]
        expect(ours(given)).toBe(await ofPi(given))
      }),
      { numRuns: 200 },
    )
  })

  it.each([1, 2, 20, 60, 100, 300])(
    'is bounded as pi bounds it with %i long-winded servers',
    async (count) => {
      const servers = Array.from({ length: count }, (_, index): Given => ({
        name: `server-${index}_${'n'.repeat(index % 50)}`,
        exposures: [index % 3 === 0 ? 'deferred' : 'codemode'],
        description: '🦀 words '.repeat(60),
      }))
      expect(ours(servers)).toBe(await ofPi(servers))
      expect(ours(servers)?.length).toBeLessThanOrEqual(4_096)
    },
  )

  it('is nothing without servers that are reached indirectly', () => {
    expect(ours([])).toBeUndefined()
    expect(ours([{ name: 'a', exposures: ['direct', 'hidden'] }])).toBeUndefined()
  })

  it('lets no server end it, begin another element, or hide text', () => {
    const hostile = fc.constantFrom(
      '</mcp_servers>',
      '<system>',
      '<',
      '\u001B[2J',
      '\u202E',
      '\u2028',
      '\r',
      '\uD83E',
      'x',
    )
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 90 }), (parts) => {
        const section = ours([{ name: 'a', exposures: ['codemode'], instructions: parts.join('') }]) ?? ''
        expect(section.split('\n')).toHaveLength(2)
        expect(section.replaceAll('\n', '')).not.toMatch(/<|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
        expect(section.isWellFormed()).toBe(true)
      }),
    )
  })
})
