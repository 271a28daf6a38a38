import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import { runPi } from '../../drivers/pi-run.ts'
import { waitUntil } from '../../drivers/processes.ts'
import {
  callTool,
  connected,
  createStage,
  misbehaving,
  PATIENCE_MS,
  serversShow,
  TAPLINE,
  toolAnswer,
} from '../stage.ts'

describe('the flags of pi', () => {
  it('--no-tapline connects nothing, offers nothing and says so when asked', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.json({ server: { ...misbehaving('--log', log.path), exposure: 'direct' } })
    stage.toml({ other: misbehaving('--log', log.path) })
    const filling = await stage.start()
    await connected(filling, 'server', 'other')
    await filling.close()
    const before = log.entries().length

    const pi = await stage.start({ args: ['--no-tapline'] })
    expect(await pi.command('/mcp')).toEqual([expect.stringContaining('--no-tapline')])
    expect(await pi.command('/triggers sources')).toEqual([expect.stringContaining('--no-tapline')])
    await pi.prompt('hello')
    expect(toolNames(stage.model.requests()[0]!)).not.toContain('mcp__server__echo')
    expect(toolNames(stage.model.requests()[0]!)).not.toContain('echo')
    expect(log.entries()).toHaveLength(before)
    expect(pi.events.filter(({ type }) => type === 'extension_error')).toEqual([])

    const printed = await runPi(['-e', TAPLINE, '--no-tapline', '-p', '/mcp'], stage)
    expect(printed.stderr).toContain('or --no-tapline was given')
  })

  it('--no-mcp leaves Tapline running, and --tools keeps what it names', async () => {
    await using stage = await createStage()
    stage.json({ server: { ...misbehaving(), exposure: 'direct' } })
    const args = ['--no-mcp', '--tools', 'read,mcp__server__e*']
    const pi = await stage.start({ args })
    await connected(pi, 'server')
    const request = await callTool(stage, pi, 'mcp__server__echo', { text: 'still there' })
    expect(toolAnswer(request)).toBe('still there')
    expect(toolNames(request)).toEqual(['read', 'mcp__server__echo'])
  })

  it('are not needed where pi’s own MCP support was not silenced: pi warns, and Tapline runs', async () => {
    await using stage = await createStage()
    const log = stage.log('server')
    stage.json({ server: misbehaving('--log', log.path) })
    const pi = await stage.start({ settings: { extensions: [] } })
    await connected(pi, 'server')
    expect(pi.stderr + pi.notices().join('\n')).toMatch(/built-in extension `?mcp`? was not loaded/)
    expect(log.pids()).toHaveLength(1)
  })
})

describe('another extension that registers servers', () => {
  it('has them connected, those of the factory and those that come and go later', async () => {
    await using stage = await createStage()
    const [early, late] = [stage.log('early'), stage.log('late')]
    const entry = (path: string) => JSON.stringify({ ...misbehaving('--log', path), exposure: 'direct' })
    const extension = stage.extension(
      'registers',
      `pi.registerMcpServer('early', ${entry(early.path)})
      pi.registerCommand('more', { handler: async () => pi.registerMcpServer('late', ${entry(late.path)}) })
      pi.registerCommand('less', { handler: async () => pi.unregisterMcpServer('early') })`,
    )
    const pi = await stage.start({ extensions: [TAPLINE, extension] })
    await connected(pi, 'early')
    expect(toolAnswer(await callTool(stage, pi, 'mcp__early__echo', { text: 'one' }))).toBe('one')

    await pi.command('/more')
    await connected(pi, 'early', 'late')
    expect(toolAnswer(await callTool(stage, pi, 'mcp__late__echo', { text: 'two' }))).toBe('two')
    expect(early.pids()).toHaveLength(1)

    await pi.command('/less')
    await early.waitFor(({ event }) => event === 'end of stdin')
    expect(await serversShow(pi, /MCP servers \(1\)/)).toContain('registers.ts')
    expect(toolAnswer(await callTool(stage, pi, 'mcp__early__echo'))).toMatch(/not found|no longer available/)
    const lateIsAlone = async () => {
      const request = await callTool(stage, pi, 'mcp__late__echo', { text: 'three' })
      expect(toolAnswer(request)).toBe('three')
      return !toolNames(request).includes('mcp__early__echo')
    }
    await waitUntil(lateIsAlone, PATIENCE_MS, 'the tools of the other server to go')
    expect(pi.stderr).toBe('')
  })

  it('yields to a file that has the name', async () => {
    await using stage = await createStage()
    const [file, extension] = [stage.log('file'), stage.log('extension')]
    stage.toml({ 'same-name': misbehaving('--log', file.path) })
    const entry = JSON.stringify(misbehaving('--log', extension.path))
    const path = stage.extension('registers', `pi.registerMcpServer('same_name', ${entry})`)
    const pi = await stage.start({ extensions: [TAPLINE, path] })
    expect(await connected(pi, 'same-name')).toMatch(/! .*same_name/)
    expect([file.pids().length, extension.pids().length]).toEqual([1, 0])
  })
})
