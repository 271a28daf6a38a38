import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../drivers/fixtures.ts'
import { createScratch } from '../drivers/scratch.ts'
import { REPOSITORY } from '../packed/workspaces.ts'
import { runTapline, stdioEntry } from './tapline.ts'

const example = (name: string): string => path.join(REPOSITORY, 'examples', name)

describe('the examples', () => {
  it('have an mcp.toml that works as it is, in a clone', async () => {
    await using scratch = createScratch()
    scratch.write('agent/loops/mcp.toml', readFileSync(example('mcp.toml'), 'utf8'))
    const list = await runTapline(['list', '--json', '--cwd', REPOSITORY, '--no-approve'], { scratch })
    expect([list.code, list.stderr]).toEqual([0, ''])
    expect(list.json()).toMatchObject({
      servers: [
        { name: 'demo', state: 'connected', tools: [{ serverTool: 'demo_status' }] },
        { name: 'demo-run', state: 'connected', tools: [{ serverTool: 'demo_status' }] },
      ],
      diagnostics: [],
    })
  })

  it('have an mcp.toml whose other servers are understood, once they are no comments', async () => {
    await using scratch = createScratch()
    const text = readFileSync(example('mcp.toml'), 'utf8').replaceAll(/^# (?=\[\[|[a-z_]+ =)/gm, '')
    scratch.write('agent/loops/mcp.toml', text)
    const list = await runTapline(['list', '--json', '--cwd', REPOSITORY, '--no-approve'], { scratch })
    expect(list.json()).toMatchObject({
      servers: [
        { name: 'demo', state: 'connected' },
        { name: 'demo-run', state: 'connected' },
        { name: 'demo-quiet', state: 'connected' },
        { name: 'hub', state: 'disconnected', error: expect.stringContaining('credential was not found') },
      ],
      diagnostics: [],
    })
  })

  it('have a transport that says what is wrong, and a sink that stands beside it, by their paths', async () => {
    await using scratch = createScratch()
    await using remote = await startHttpFixture(servers.websocket)
    const clock = remote.url.replace('http:', 'ws:')
    scratch.write('agent/tapline.json', {
      plugins: ['websocket-transport', 'file-sink'].map((name) => example(`${name}/index.ts`)),
      options: { websocket: { clock, nobody: 'ws://127.0.0.1:1/mcp', wrong: 'no address', mine: clock } },
    })
    scratch.write('agent/mcp.json', { mcpServers: { mine: stdioEntry(servers.notify) } })
    const list = await runTapline(['list', '--json'], { scratch })
    expect([list.code, list.stderr]).toEqual([1, ''])
    expect(list.json().servers).toMatchObject([
      // Servers of files come first.
      { name: 'mine', transport: 'stdio', state: 'connected' },
      {
        name: 'clock',
        transport: 'websocket',
        state: 'connected',
        tools: [{ name: 'mcp__clock__hang_up' }, { name: 'mcp__clock__shout' }],
      },
      { name: 'nobody', state: 'disconnected', error: 'cannot connect to 127.0.0.1:1' },
      { name: 'wrong', state: 'disconnected', error: 'its address is no URL' },
    ])
    const doctor = await runTapline(['doctor', '--json'], { scratch })
    expect(doctor.json().plugins).toEqual(expect.arrayContaining(['websocket', 'file-sink']))
  })
})
