import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cacheableTools, fingerprint, toolCache } from '../src/index.ts'
import { serverSpec, serverTool, testCatalogue } from './support.ts'

let directory = ''
let file = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tools-cache-'))
  file = join(directory, 'deep', 'tools.cache')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const print = (configuration = 'x') => fingerprint(configuration, ['tools'], ['0.1.0'])
const wanted = (...servers: string[]) => new Map(servers.map((server) => [server, print()]))
const beside = () => readdirSync(join(directory, 'deep')).sort()

/** What a real list leaves in the cache. */
async function cached(...tools: ReturnType<typeof serverTool>[]) {
  const { catalogue } = await testCatalogue()
  catalogue.setServers([serverSpec()])
  catalogue.setTools('docs', { tools, problems: [] })
  const list = catalogue.list()
  return { list, tools: cacheableTools(list, 'docs') }
}

describe('the cache', () => {
  it('gives back what was registered, and what the server sent', async () => {
    const sent = [
      serverTool('search', {
        description: 'Searches.',
        inputSchema: { required: ['q'], properties: { q: { type: 'string' } } },
        outputSchema: {},
      }),
      serverTool('plain', { annotations: { readOnlyHint: true } }),
      serverTool('bad', { inputSchema: { type: 'array' } }),
    ]
    const { list, tools } = await cached(...sent)
    const cache = toolCache(file)
    await cache.write([{ server: 'docs', fingerprint: print(), tools }])
    const found = toolCache(file).read(wanted('docs')).get('docs') ?? []
    expect(found).toEqual(JSON.parse(JSON.stringify(tools)))
    expect(found.map((tool) => tool.registered?.name)).toEqual([
      undefined,
      'mcp__docs__plain',
      'mcp__docs__search',
    ])
    const { server: _, serverTool: __, ...registered } = list.tools[1] ?? {}
    expect(JSON.stringify(found[2]?.registered)).toBe(JSON.stringify(registered))

    // The next session makes the same list of it.
    const { catalogue } = await testCatalogue()
    catalogue.setServers([serverSpec()])
    catalogue.setTools('docs', { tools: found.map((tool) => tool.serverTool), problems: [] })
    const visible = (tools: typeof list.tools) =>
      tools.map(({ name, label, description, parameters }) => [name, label, description, parameters])
    expect(JSON.stringify(visible(catalogue.list().tools))).toBe(JSON.stringify(visible(list.tools)))
  })

  it('knows nothing of servers that are configured otherwise now', async () => {
    const cache = toolCache(file)
    await cache.write([{ server: 'docs', fingerprint: print(), tools: [{ serverTool: serverTool('a') }] }])
    expect(cache.read(new Map([['docs', print('other')]])).size).toBe(0)
    expect(cache.read(wanted('other')).size).toBe(0)
    expect(cache.read(wanted('docs')).size).toBe(1)
  })

  it('keeps the entries of other servers, and of one server in other projects', async () => {
    const cache = toolCache(file)
    const tools = [{ serverTool: serverTool('a') }]
    await Promise.all([
      cache.write([{ server: 'docs', fingerprint: print(), tools }]),
      cache.write([{ server: 'docs', fingerprint: print('other'), tools }]),
      cache.write([{ server: 'code', fingerprint: print(), tools }]),
    ])
    expect(cache.read(wanted('docs', 'code')).size).toBe(2)
    expect(cache.read(new Map([['docs', print('other')]])).size).toBe(1)
  })

  it('is a private file that is written whole, and only when there is news', async () => {
    const cache = toolCache(file)
    const entry = { server: 'docs', fingerprint: print(), tools: [{ serverTool: serverTool('a') }] }
    await cache.write([entry])
    const { ino, mode } = statSync(file)
    expect(mode & 0o777).toBe(0o600)
    expect(statSync(join(directory, 'deep')).mode & 0o777).toBe(0o700)
    await cache.write([entry])
    expect(statSync(file).ino).toBe(ino)
    await cache.write([{ ...entry, tools: [] }])
    expect(statSync(file).ino).not.toBe(ino)
    expect(beside()).toEqual(['tools.cache'])
  })

  it('forgets the oldest when it becomes too large', async () => {
    let time = 1
    const cache = toolCache(file, () => (time += 1))
    const tools = [{ serverTool: serverTool('a', { description: 'x'.repeat(3 * 1024 * 1024) }) }]
    for (const server of ['a', 'b', 'c']) await cache.write([{ server, fingerprint: print(), tools }])
    expect([...cache.read(wanted('a', 'b', 'c')).keys()].sort()).toEqual(['b', 'c'])
    expect(statSync(file).size).toBeLessThan(8 * 1024 * 1024 + 1_000)
  })

  it('leaves out what cannot be a line', async () => {
    const cache = toolCache(file)
    await cache.write([
      { server: 'no\nname', fingerprint: print(), tools: [] },
      { server: 'docs', fingerprint: 'short', tools: [] },
    ])
    expect(existsSync(file)).toBe(false)
  })
})

describe('a file that is not a cache', () => {
  it.each([
    ['empty', ''],
    ['cut off', '{"tapline":"tools","version":1}\n["docs","'],
    ['something else', '{"a":1}\n'],
    ['not UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
    ['too large', Buffer.alloc(17 * 1024 * 1024)],
    ['broken inside', `{"tapline":"tools","version":1}\n["docs","${print()}",1,[}]]\n`],
    ['of tools without names', `{"tapline":"tools","version":1}\n["docs","${print()}",1,[[{}]]]\n`],
  ])('%s: is set aside, and a new one begun', async (_what, bytes) => {
    await toolCache(file).write([{ server: 'x', fingerprint: print(), tools: [] }])
    writeFileSync(file, bytes)
    const cache = toolCache(file, () => 1_234)
    expect(cache.read(wanted('docs')).size).toBe(0)
    expect(cache.diagnostics).toEqual([
      { severity: 'warning', path: file, message: expect.stringContaining('corrupt-1234') },
    ])
    expect(beside()).toEqual(['tools.cache.corrupt-1234'])
    expect(readFileSync(`${file}.corrupt-1234`).equals(Buffer.from(bytes))).toBe(true)
    await cache.write([{ server: 'docs', fingerprint: print(), tools: [] }])
    expect(cache.read(wanted('docs')).size).toBe(1)
    expect(cache.diagnostics).toHaveLength(1)
  })

  it('of a newer version is no cache of ours, and not damaged', async () => {
    await toolCache(file).write([{ server: 'x', fingerprint: print(), tools: [] }])
    writeFileSync(file, '{"tapline":"tools","version":2}\nwhatever')
    const cache = toolCache(file)
    expect(cache.read(wanted('docs')).size).toBe(0)
    expect(cache.diagnostics).toEqual([])
  })

  it('never throws, whatever the bytes', async () => {
    await toolCache(file).write([{ server: 'x', fingerprint: print(), tools: [] }])
    const line = `{"tapline":"tools","version":1}\n["docs","${print()}",1,[[{"name":"a"}]]]\n`
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.record({ at: fc.nat(line.length), byte: fc.nat(255) }).map(({ at, byte }) => {
        const copy = Buffer.from(line)
        copy[Math.min(at, copy.length - 1)] = byte
        return copy
      }),
    )
    fc.assert(
      fc.property(bytes, (given) => {
        writeFileSync(file, given)
        const cache = toolCache(file)
        for (const tool of cache.read(wanted('docs')).get('docs') ?? [])
          expect(typeof tool.serverTool.name).toBe('string')
        for (const name of beside()) if (name.includes('corrupt')) rmSync(join(directory, 'deep', name))
      }),
      { numRuns: 500 },
    )
  })
})

it('gives fingerprints that change with everything they are of', () => {
  const prints = [
    fingerprint('a', ['b'], ['c']),
    fingerprint(Buffer.from('A'), ['b'], ['c']),
    fingerprint('a', ['b', 'c'], []),
    fingerprint('a', ['bc'], []),
    fingerprint('a', [], ['b', 'c']),
  ]
  expect(new Set(prints).size).toBe(prints.length)
  expect(fingerprint(Buffer.from('a'), ['b'], ['c'])).toBe(prints[0])
})
