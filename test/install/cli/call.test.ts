import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { processesNaming, waitUntil } from '../../drivers/processes.ts'
import { createScratch } from '../../drivers/scratch.ts'
import type { Scratch } from '../../drivers/scratch.ts'
import { runTapline, startTapline, stdioEntry } from '../tapline.ts'
import type { Ran, RunOptions } from '../tapline.ts'

function configured(scratch: Scratch): (args: string[], options?: Partial<RunOptions>) => Promise<Ran> {
  scratch.write('agent/mcp.json', {
    mcpServers: {
      fixture: stdioEntry(servers.misbehaving, '--log', `${scratch.root}/log.jsonl`),
      'two-parts': stdioEntry(servers.notify),
      dead: { command: 'no-such-command-of-any-machine' },
      off: { command: 'node', enabled: false },
      typo: { comand: 'node' },
    },
  })
  return (args, options) => runTapline(['call', ...args], { scratch, ...options })
}

/** What the fixture has written of itself so far. */
function logIn(scratch: Scratch): () => string {
  const file = `${scratch.root}/log.jsonl`
  return () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
}

describe('tapline call', () => {
  it('prints the result and ends with 0, or with 1 when the tool says that it failed', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const call = configured(scratch)
    const echo = await call(['fixture', 'echo', '{ "text": "grüezi" }', '--json'])
    expect(echo).toMatchObject({
      code: 0,
      stderr: '',
      stdout: '{"content":[{"type":"text","text":"grüezi"}]}\n',
    })
    const pretty = await call(['fixture', 'structured', '{ "value": 7 }'])
    expect(pretty.json()).toMatchObject({ structuredContent: { value: 7 } })
    expect(pretty.stdout).toMatch(/^\{\n {2}"content"/)
    const failed = await call(['fixture', 'fail'])
    expect([failed.code, failed.stderr]).toEqual([1, ''])
    expect(failed.json()).toMatchObject({ isError: true, content: [{ text: 'This tool always fails.' }] })
  })

  it('takes the arguments from standard input', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const call = configured(scratch)
    const echo = await call(['fixture', 'echo', '-'], { input: '{ "text": "from stdin" }\n' })
    expect(echo.code).toBe(0)
    expect(echo.json().content).toEqual([{ type: 'text', text: 'from stdin' }])
    expect(await call(['fixture', 'echo', '-'], { input: 'text' })).toMatchObject({ code: 2, stdout: '' })
  })

  it('knows servers by - and _ alike, and tools by the name that pi gives them', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const call = configured(scratch)
    for (const args of [
      ['two_parts', 'demo_status'],
      ['two-parts', 'mcp__two_parts__demo_status'],
    ]) {
      expect(await call(args)).toMatchObject({ code: 0, stdout: expect.stringContaining('beats sent') })
    }
  })

  it('hands on what the server says of a call, over HTTP and in the new revision too', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    await using remote = await startHttpFixture(servers.modern, ['--http'])
    scratch.write('agent/mcp.json', { mcpServers: { remote: { url: remote.url } } })
    const add = await runTapline(['call', 'remote', 'add', '{ "a": 1, "b": 2 }'], { scratch })
    expect([add.code, add.json().content]).toEqual([0, [{ type: 'text', text: '3' }]])
  })

  it('ends with 2 and a sentence for whatever else goes wrong', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const call = configured(scratch)
    const wrong: [args: string[], sentence: RegExp][] = [
      [['fixture', 'bad'], /These arguments never please/],
      [['fixture', 'crash'], /exited with code 1[^]*crashing on purpose/],
      [['fixture', 'nothing'], /Server "fixture" has no tool "nothing"\. It has: .*echo/],
      [['dead', 'echo'], /no-such-command-of-any-machine: command not found/],
      [['off', 'echo'], /Server "off" is disabled in .*mcp\.json/],
      [['typo', 'echo'], /mcp server 'typo' failed: /],
      [['nobody', 'echo'], /No server is named "nobody"\. Configured: fixture, two-parts, dead, off\./],
      [['fixture', 'echo', '{'], /The arguments are not JSON/],
      [['fixture', 'echo', '[1]'], /must be a JSON object/],
      [['fixture'], /Usage: tapline call <server> <tool> \[json\]/],
    ]
    const ran = await Promise.all(
      wrong.map(async ([args, sentence]) => ({ sentence, ran: await call(args) })),
    )
    for (const { sentence, ran: each } of ran) {
      expect(each).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) })
      expect(each.stderr).not.toMatch(/\n\s+at /)
    }
  })

  it('names tools without what would steer the terminal', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const tools = [{ name: 'wipe\u001B[2J', inputSchema: { type: 'object' } }]
    const script = scratch.write('script.json', { 'tools/list': { '': { tools } } })
    scratch.write('agent/mcp.json', { mcpServers: { odd: stdioEntry(servers.scripted, script) } })
    const { stderr } = await runTapline(['call', 'odd', 'nothing'], { scratch })
    expect(stderr).toBe('Server "odd" has no tool "nothing". It has: wipe.\n')
  })

  it('is cancelled by an interrupt, and says so to the server', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    configured(scratch)
    const log = logIn(scratch)
    const running = startTapline(['call', 'fixture', 'slow', '{ "ms": 60000 }'], { scratch })
    await waitUntil(() => log().includes('"tools/call"'))
    running.child.kill('SIGINT')
    expect(await running.exited).toEqual({ code: 130, signal: null })
    expect(log()).toContain('"notifications/cancelled"')
    expect(running.stdout).toBe('')
    await waitUntil(() => processesNaming(scratch.root).length === 0)
  })

  it('is cancelled while it connects, too', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const silent = stdioEntry(servers.misbehaving, '--silent', '--log', `${scratch.root}/log.jsonl`)
    scratch.write('agent/mcp.json', { mcpServers: { silent } })
    const running = startTapline(['call', 'silent', 'echo'], { scratch })
    await waitUntil(() => logIn(scratch)().includes('"message"'))
    running.child.kill('SIGINT')
    expect(await running.exited).toEqual({ code: 130, signal: null })
    await waitUntil(() => processesNaming(scratch.root).length === 0)
  })
})
