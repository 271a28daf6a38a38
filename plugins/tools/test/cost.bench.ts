/* What 1,000 tools cost: `node plugins/tools/test/cost.bench.ts`. Prints figures; nothing depends on them. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerTool } from '@tapline/core'
import { cacheableTools, diffTools, fingerprint, toolCache } from '../src/index.ts'
import { serverSpec, serverTool, testCatalogue } from './support.ts'

const TOOLS = 1_000
const SERVERS = 10

function tool(index: number): ServerTool {
  return serverTool(`search_${index}`, {
    description:
      `Searches number ${index} for what matches the query, and answers the best ones first. `.repeat(3),
    inputSchema: {
      type: 'object',
      ...(index % 2 ? { $schema: 'http://json-schema.org/draft-07/schema#' } : {}),
      properties: {
        query: {
          type: 'string',
          description: `What to search for, in words ${index}`,
          minLength: 1,
          maxLength: 500,
        },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'How many' },
        filters: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              field: { type: 'string', enum: ['a', 'b'] },
              value: { anyOf: [{ type: 'string' }, { type: 'null' }] },
            },
            required: ['field'],
          },
        },
        sort: { $ref: '#/$defs/Sort' },
        since: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
      },
      required: ['query'],
      $defs: {
        Sort: { type: 'object', properties: { by: { type: 'string' }, dir: { enum: ['asc', 'desc'] } } },
      },
    },
  })
}

async function measure<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  const [before, cpu] = [performance.now(), process.cpuUsage()]
  const answer = await work()
  const wall = performance.now() - before
  const { user, system } = process.cpuUsage(cpu)
  // On a busy machine the time of the processor says more.
  console.log(
    `${what.padEnd(42)} ${wall.toFixed(1).padStart(7)} ms, processor ${((user + system) / 1_000).toFixed(1).padStart(7)} ms`,
  )
  return answer
}

const tools = JSON.parse(
  JSON.stringify(Array.from({ length: TOOLS }, (_, index) => tool(index))),
) as readonly ServerTool[]
const { catalogue } = await testCatalogue()
const names = Array.from({ length: SERVERS }, (_, index) => `server-${index}`)
catalogue.setServers(names.map((name) => serverSpec({ name })))
for (const [index, name] of names.entries())
  catalogue.setTools(name, { tools: tools.filter((_, at) => at % SERVERS === index), problems: [] })

console.log(
  `${TOOLS} tools of ${SERVERS} servers, ${JSON.stringify(tools).length} bytes of JSON, Node ${process.versions.node}`,
)
const first = await measure('names, schemas, list: the first time', () => catalogue.list())
await measure('the list once more', () => catalogue.list())
await measure('the difference of two lists', () => diffTools(first.tools, catalogue.list().tools))

const directory = mkdtempSync(join(tmpdir(), 'tools-cost-'))
const file = join(directory, 'tools.cache')
const print = fingerprint('configuration', ['tools'], ['0.1.0'])
const entries = names.map((server) => ({ server, fingerprint: print, tools: cacheableTools(first, server) }))
await measure('the cache: write', () => toolCache(file).write(entries))
const wanted = new Map(names.map((name) => [name, print]))
await measure('the cache: read, in a factory', () => toolCache(file).read(wanted))
const { size } = statSync(file)
const found = await measure('the cache: read once more', () => toolCache(file).read(wanted))
console.log(`the cache has ${size} bytes`)

const next = await testCatalogue()
next.catalogue.setServers(names.map((name) => serverSpec({ name })))
for (const [name, cached] of found)
  next.catalogue.setTools(name, { tools: cached.map(({ serverTool }) => serverTool), problems: [] })
await measure('the list from the cache', () => next.catalogue.list())
rmSync(directory, { recursive: true })
