import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { processesNaming, waitUntil } from '../../drivers/processes.ts'
import { createScratch } from '../../drivers/scratch.ts'
import { runTapline, stdioEntry } from '../tapline.ts'

const dead = { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(3)'] }

describe('tapline list', () => {
  it('says of a good, a remote, a misspelt and a dead server what is true of each', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    await using remote = await startHttpFixture(servers.v1, ['--http'])
    const path = scratch.write('agent/mcp.json', {
      mcpServers: {
        good: stdioEntry(servers.notify),
        remote: { url: remote.url, exposure: 'direct' },
        typo: { comand: 'node', args: ['server.mjs'] },
        dead,
      },
    })
    const typo = expect.stringMatching(/^mcp server 'typo' failed: .*"command"/)

    const list = await runTapline(['list', '--json'], { scratch })
    expect(list).toMatchObject({ code: 1, stderr: '' })
    expect(list.json()).toEqual({
      servers: [
        {
          name: 'good',
          source: path,
          transport: 'stdio',
          state: 'connected',
          protocolVersion: '2025-11-25',
          era: 'legacy',
          tools: [{ name: 'mcp__good__demo_status', serverTool: 'demo_status', exposure: 'codemode' }],
        },
        {
          name: 'remote',
          source: path,
          transport: 'streamable-http',
          state: 'connected',
          protocolVersion: '2025-11-25',
          era: 'legacy',
          tools: ['add', 'change', 'log', 'push', 'slow', 'touch'].map((tool) => ({
            name: `mcp__remote__${tool}`,
            serverTool: tool,
            exposure: 'direct',
          })),
        },
        {
          name: 'dead',
          source: path,
          transport: 'stdio',
          state: 'disconnected',
          tools: [],
          error: expect.stringMatching(/exited with code 3[^]*no licence/),
          attention: expect.stringContaining('fix the entry, then try again'),
        },
        { name: 'typo', source: path, transport: 'unknown', state: 'invalid', tools: [], error: typo },
      ],
      diagnostics: [typo],
    })

    const text = await runTapline(['list'], { scratch })
    expect(text).toMatchObject({ code: 1, stderr: '' })
    const [good, goodTool, remoteLine, ...rest] = text.stdout.trimEnd().split('\n')
    expect(good).toBe(`good  connected · 2025-11-25 · stdio · ${path}`)
    expect(goodTool).toBe('  mcp__good__demo_status [codemode]')
    expect(remoteLine).toBe(`remote  connected · 2025-11-25 · streamable-http · ${path}`)
    expect(rest.slice(0, 6).map((line) => line.trim())).toContain('mcp__remote__add')
    expect(rest.slice(6)).toEqual([
      `dead  disconnected · stdio · ${path}`,
      expect.stringMatching(/^ {2}.*exited with code 3/),
      expect.stringMatching(/^ {2}.*no licence/),
      expect.stringMatching(/^ {2}.*fix the entry, then try again/),
      `typo  invalid · unknown · ${path}`,
      expect.stringMatching(/^ {2}mcp server 'typo' failed: /),
    ])
  })

  it('ends with 0 when all is well, and names what is switched off without starting it', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const mark = `${scratch.root}/started`
    const off = { command: 'touch', args: [mark], enabled: false }
    const modern = stdioEntry(servers.modern)
    const path = scratch.write('agent/mcp.json', { mcpServers: { modern, off } })
    const list = await runTapline(['list', '--json'], { scratch })
    expect(list).toMatchObject({ code: 0, stderr: '' })
    expect(list.json()).toMatchObject({
      servers: [
        { name: 'modern', state: 'connected', era: 'modern', protocolVersion: '2026-07-28' },
        { name: 'off', source: path, transport: 'stdio', state: 'disabled', tools: [] },
      ],
      diagnostics: [],
    })
    expect(processesNaming(mark)).toEqual([])
    expect(existsSync(mark)).toBe(false)
  })

  it('ends with 1 when a server is connected but cannot list its tools, as doctor does', async () => {
    await using scratch = createScratch()
    const error = { code: -32_603, message: 'on \u001B[2Jholiday' }
    const script = scratch.write('script.json', {
      capabilities: { tools: {} },
      'tools/list': { '': { error } },
    })
    scratch.write('agent/mcp.json', { mcpServers: { odd: stdioEntry(servers.scripted, script) } })
    const list = await runTapline(['list', '--json'], { scratch })
    expect(list.json().servers).toMatchObject([
      { state: 'connected', error: expect.stringMatching(/^tools\/list failed: .*: on holiday$/) },
    ])
    expect(list.code).toBe(1)
    expect((await runTapline(['doctor'], { scratch })).code).toBe(1)
  })

  it('says that there is nothing, which is no fault', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const json = await runTapline(['list', '--json'], { scratch })
    expect([json.code, json.json()]).toEqual([0, { servers: [], diagnostics: [] }])
    const text = await runTapline(['list'], { scratch })
    expect(text).toMatchObject({ code: 0, stdout: 'No MCP servers are configured.\n', stderr: '' })
  })

  it('reports a file that cannot be read, beside the servers of the others', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', '{ "mcpServers": { // mine\n } }')
    scratch.write('agent/tapline.toml', 'naming = "mpc"\n')
    const loops = `[[server]]\nname = "notify"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["${servers.notify}"]\n`
    scratch.write('agent/loops/mcp.toml', loops)
    const list = await runTapline(['list', '--json'], { scratch })
    expect(list.code).toBe(1)
    expect(list.json()).toMatchObject({
      servers: [{ name: 'notify', state: 'connected', tools: [{ name: 'demo_status', exposure: 'direct' }] }],
      diagnostics: [
        expect.stringContaining('tapline.toml is ignored: naming must be equal to one of'),
        expect.stringMatching(/mcp\.json:1: .*comments are not allowed/),
      ],
    })
  })

  it('leaves no process behind', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const stubborn = stdioEntry(servers.misbehaving, '--ignore-term', '--grandchild')
    scratch.write('agent/mcp.json', { mcpServers: { stubborn, dead } })
    const list = await runTapline(['list', '--json'], { scratch })
    expect(list.json().servers).toMatchObject([{ state: 'connected' }, { state: 'disconnected' }])
    await waitUntil(
      () => processesNaming(scratch.root).length === 0,
      10_000,
      () => JSON.stringify(processesNaming(scratch.root)),
    )
  })

  it('is the command of the preset for pi as well', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: { good: stdioEntry(servers.notify) } })
    const script = fileURLToPath(new URL('../../../presets/pi/bin/tapline.mjs', import.meta.url))
    const list = await runTapline(['list', '--json'], { scratch, script })
    expect(list).toMatchObject({ code: 0, stderr: '' })
    expect(list.json().servers).toMatchObject([{ name: 'good', state: 'connected' }])
  })
})
