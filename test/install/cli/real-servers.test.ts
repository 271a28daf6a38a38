import { expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { createScratch } from '../../drivers/scratch.ts'
import { runTapline, stdioEntry } from '../tapline.ts'

it('lists and calls the filesystem and memory servers of npm', async () => {
  await using scratch = createScratch({ tmp: 'shared' })
  scratch.write('agent/mcp.json', {
    mcpServers: {
      files: stdioEntry(servers.filesystem, scratch.project),
      memory: stdioEntry(servers.memory),
    },
  })
  const tapline = (...args: string[]) => runTapline(args, { scratch })

  const list = await tapline('list', '--json')
  expect(list.code).toBe(0)
  expect(list.stdout).toContain('"list_allowed_directories"')
  expect(list.stdout).toContain('"read_graph"')

  const directories = await tapline('call', 'files', 'list_allowed_directories', '{}', '--json')
  expect(directories).toMatchObject({ code: 0, stdout: expect.stringContaining(scratch.project) })

  const graph = await tapline('call', 'memory', 'read_graph', '{}', '--json')
  expect(graph.json()).toMatchObject({ structuredContent: { entities: [], relations: [] } })
})

it('brings an answer of 20 MB home in one piece', async () => {
  await using scratch = createScratch({ tmp: 'shared' })
  scratch.write('agent/mcp.json', {
    mcpServers: { fixture: stdioEntry(servers.misbehaving) },
  })
  const ran = await runTapline(['call', 'fixture', 'big', '{"bytes":20000000}', '--json'], { scratch })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const answer = `{"content":[{"type":"text","text":"${'x'.repeat(20_000_000)}"}]}\n`
  expect(ran.stdout === answer).toBe(true)
})
