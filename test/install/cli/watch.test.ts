import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Parsed } from '../../drivers/chat.ts'
import { servers } from '../../drivers/fixtures.ts'
import { processesNaming, waitUntil } from '../../drivers/processes.ts'
import { createScratch } from '../../drivers/scratch.ts'
import { runTapline, startTapline, stdioEntry } from '../tapline.ts'

const kinds = 'heartbeat,tools,resources,prompts,updated,message,progress,keyless,duplicate'
const parsed = (lines: readonly string[]): Parsed[] => lines.map((line) => JSON.parse(line))

describe('tapline watch', () => {
  it('prints a line for each push of each kind, with what it would have become', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const notify = stdioEntry(servers.notify, '--every', '20', '--count', '1', '--kinds', kinds)
    const push = { 'notifications/pi/*': 'run', default: 'summary' }
    scratch.write('agent/mcp.json', { mcpServers: { demo: { ...notify, push } } })
    const running = startTapline(['watch'], { scratch })
    const lines = parsed(await running.lines(8))
    running.child.kill('SIGINT')
    expect(await running.exited).toEqual({ code: 0, signal: null })

    const id = expect.stringMatching(/^[0-9a-f-]{36}$/)
    const line = (method: string, key: unknown, policy: string, summary = method): object => ({
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      traceId: id,
      server: 'demo',
      method,
      key,
      policy,
      summary,
      state: 'delivered',
      sink: 'watch',
    })
    const custom = (name: string, label: string): object =>
      line(
        `notifications/pi/demo/${name}`,
        expect.stringMatching(
          new RegExp(`^mcp:demo:custom:notifications%2Fpi%2Fdemo%2F${name}:${label}-\\d+-1$`),
        ),
        'run',
        `notifications/pi/demo/${name} demo ${label} 1`,
      )
    expect(lines).toEqual([
      custom('heartbeat', 'beat'),
      line('notifications/tools/list_changed', 'mcp:demo:tools', 'summary'),
      line('notifications/resources/list_changed', 'mcp:demo:resources', 'summary'),
      line('notifications/prompts/list_changed', 'mcp:demo:prompts', 'summary'),
      line(
        'notifications/resources/updated',
        'mcp:demo:resources:demo%3A%2F%2Fbeats',
        'summary',
        'notifications/resources/updated uri=demo://beats',
      ),
      {
        ...line('notifications/pi/demo/keyless', '', 'drop'),
        traceId: '',
        state: 'dropped',
        sink: undefined,
        reason: 'no dedup key',
      },
      // Nothing is claimed, so the second of two equal ones is no duplicate here.
      custom('twice', 'twice'),
      custom('twice', 'twice'),
    ])
    expect(new Set(lines.map(({ traceId }) => traceId)).size).toBe(8)
    // Nothing more came: messages and progress are the protocol's own.
    expect(parsed(running.stdout.trimEnd().split('\n'))).toHaveLength(8)
    await waitUntil(() => processesNaming(scratch.root).length === 0)
  })

  it('delivers nothing, and claims nothing', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const mark = `${scratch.root}/delivered`
    scratch.write(
      'agent/sink.mjs',
      `import { writeFileSync } from 'node:fs'
export default {
  name: 'mark', api: 1,
  setup({ hooks }) {
    hooks.deliver.sink('mark').tap({}, () => { writeFileSync(${JSON.stringify(mark)}, ''); return { sink: 'mark' } })
    hooks.dedup.tap({}, () => { writeFileSync(${JSON.stringify(`${mark}-claim`)}, '') })
  },
}`,
    )
    scratch.write('agent/tapline.json', { plugins: ['./sink.mjs'], push: { '*': { default: 'mark' } } })
    const notify = stdioEntry(servers.notify, '--every', '20')
    scratch.write('agent/mcp.json', { mcpServers: { demo: notify } })
    const running = startTapline(['watch', '--json'], { scratch })
    expect(parsed(await running.lines(3))[0]).toMatchObject({
      policy: 'mark',
      state: 'delivered',
      sink: 'watch',
    })
    running.child.kill('SIGTERM')
    expect(await running.exited).toEqual({ code: 0, signal: null })
    expect([running.stderr, existsSync(mark), existsSync(`${mark}-claim`)]).toEqual(['', false, false])
    expect(readdirSync(scratch.agent).toSorted()).toEqual(['mcp.json', 'sink.mjs', 'tapline', 'tapline.json'])
    expect(readdirSync(`${scratch.agent}/tapline`)).toEqual(['eras.json'])
  })

  it('ends by itself after --for', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: { demo: stdioEntry(servers.notify, '--every', '20') } })
    const ran = await runTapline(['watch', '--for', '1', '--json'], { scratch })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    // How much came in that time is up to the machine; whatever it is, it is whole.
    for (const line of parsed(ran.stdout.split('\n').filter(Boolean)))
      expect(line).toMatchObject({ server: 'demo' })
    await waitUntil(() => processesNaming(scratch.root).length === 0)
  })

  it('goes on over servers that come and go, and says why on standard error, once each', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const dead = { command: 'no-such-command-of-any-machine' }
    // It pushes once and ends, each time that it is started.
    const brief = `const write = process.stdout.write.bind(process.stdout)
      process.stdout.write = (text) => write(text, () => /notifications\\/pi/.test(text) && process.exit(3))
      void import(${JSON.stringify(servers.notify)})`
    scratch.write('agent/mcp.json', {
      mcpServers: { dead, brief: { command: process.execPath, args: ['-e', brief, '--', '--every', '20'] } },
    })
    const running = startTapline(['watch', '--json'], { scratch })
    expect(parsed(await running.lines(2)).map(({ server }) => server)).toEqual(['brief', 'brief'])
    await waitUntil(() => running.stderr.includes("mcp server 'brief' failed: "))
    running.child.kill('SIGINT')
    expect(await running.exited).toEqual({ code: 0, signal: null })
    const said = running.stderr.trimEnd().split('\n')
    expect(said.filter((line) => line.includes("'dead'"))).toEqual([
      "! mcp server 'dead' failed: failed to spawn no-such-command-of-any-machine: command not found. " +
        'Install it, or write its full path in the entry, then /mcp reconnect it.',
    ])
    // Where its end is seen before its exit, that is said too.
    for (const line of said.filter((each) => !each.includes("'dead'")))
      expect(line).toMatch(/^! mcp server 'brief' failed: server (?:exited|closed) .*retrying with backoff/)
    expect(new Set(said).size).toBe(said.length)
  })

  it('ends, with its servers, when nobody reads it any more', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: { demo: stdioEntry(servers.notify, '--every', '20') } })
    const running = startTapline(['watch'], { scratch })
    await running.lines(1)
    running.child.stdout?.destroy()
    expect(await running.exited).toEqual({ code: 0, signal: null })
    expect(running.stderr).toBe('')
    await waitUntil(() => processesNaming(scratch.root).length === 0)
  })

  it('has nothing to do without a server', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const ran = await runTapline(['watch'], { scratch })
    expect(ran).toMatchObject({ code: 1, stdout: '', stderr: 'No enabled MCP server is configured.\n' })
  })
})
