import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toolNames } from '../../drivers/chat.ts'
import type { PiEvent } from '../../drivers/pi.ts'
import { runPi } from '../../drivers/pi-run.ts'
import { groupAlive, waitUntil } from '../../drivers/processes.ts'
import {
  connected,
  createStage,
  gated,
  misbehaving,
  noticed,
  PATIENCE_MS,
  said,
  serversShow,
  TAPLINE,
} from '../stage.ts'

const dead = { command: '/nowhere/to/be/found', args: ['--secret=hunter2'] }

// Most of the time they wait.
describe.concurrent('the start of the real pi', () => {
  it('is not held up by a server that never answers, whose state is shown', async () => {
    await using stage = await createStage()
    stage.json({ mute: misbehaving('--silent'), good: { ...misbehaving(), exposure: 'direct' } })
    const pi = await stage.start()
    await pi.prompt('hello')
    expect(toolNames(stage.model.requests()[0]!)).toContain('mcp__good__echo')
    await serversShow(pi, /good: connected · 14 tools/, /mute: connecting…/)
    expect(statuses(pi.events).at(-1)).toBe('MCP 1/2 · 1 connecting…')
  })

  it('waits ten seconds at most for direct tools, says so, and adds them when they come', async () => {
    await using stage = await createStage()
    const gate = `${stage.scratch.root}/gate`
    stage.json({ late: { ...gated(gate, misbehaving()), exposure: 'direct' } })
    const pi = await stage.start()
    await pi.prompt('hello')
    expect(toolNames(stage.model.requests()[0]!)).not.toContain('mcp__late__echo')
    expect(await noticed(pi, /still connecting/)).toBe(
      'MCP servers are still connecting; their tools become available once connected.',
    )
    stage.scratch.write('gate', '')
    await connected(pi, 'late')
    await pi.prompt('and now?')
    expect(toolNames(stage.model.requests().at(-1)!)).toContain('mcp__late__echo')
  })

  it('says once which server failed and why, and the others work', async () => {
    await using stage = await createStage()
    stage.json({ dead, good: misbehaving() })
    stage.toml({
      exits: {
        ...misbehaving('--exit-after-init'),
        reconnect: { initial_ms: 20, max_ms: 50, max_attempts: 3 },
      },
    })
    const pi = await stage.start()
    const shown = await serversShow(pi, /good: connected/, /exits: disconnected/, /dead: disconnected/)
    expect(shown).toMatch(
      /exits: disconnected: reconnect attempts exhausted \(3\); last error: server exited with code 3/,
    )
    expect(shown).toMatch(/what to do: .*\/mcp reconnect/)
    await noticed(pi, /mcp server 'exits' failed: reconnect attempts/)
    const all = said(pi).join('\n')
    expect(all.match(/mcp server 'dead' failed: /g)).toHaveLength(1)
    expect(all).toContain(
      "mcp server 'dead' failed: failed to spawn /nowhere/to/be/found: command not found. " +
        'Install it, or write its full path in the entry, then /mcp reconnect it.',
    )
    expect(all).not.toContain('hunter2')
    // The distinct errors of the other one, each once.
    expect(all.match(/mcp server 'exits' failed: server exited with code 3/g)).toHaveLength(1)
    expect(all.match(/mcp server 'exits' failed: reconnect attempts exhausted/g)).toHaveLength(1)
    expect(all).not.toMatch(/good/)
  })

  it('shows how many servers are connected while they connect', async () => {
    await using stage = await createStage()
    const gates = ['a', 'b'].map((name) => `${stage.scratch.root}/${name}`)
    stage.json({ one: gated(gates[0]!, misbehaving()), two: gated(gates[1]!, misbehaving()) })
    const pi = await stage.start()
    const status = (text: string) => pi.waitFor(({ statusText }) => statusText === text, PATIENCE_MS, 0)
    await status('MCP 0/2 · 2 connecting…')
    stage.scratch.write('a', '')
    await status('MCP 1/2 · 1 connecting…')
    stage.scratch.write('b', '')
    await status('MCP 2/2')
    expect(statuses(pi.events)).toEqual(['MCP 0/2 · 2 connecting…', 'MCP 1/2 · 1 connecting…', 'MCP 2/2'])
  })

  it('comes also when the first prompt is interrupted before it reaches the model', async () => {
    await using stage = await createStage()
    stage.json({ server: misbehaving() })
    const hasty = stage.extension(
      'hasty',
      `pi.on('session_start', () => pi.sendUserMessage('too early'))
      pi.on('before_agent_start', (_event, ctx) => ctx.abort())`,
    )
    const pi = await stage.start({ extensions: [TAPLINE, hasty] })
    const connects = ({ statusText }: PiEvent) => statusText === 'MCP 1/1'
    await pi.waitFor(connects, PATIENCE_MS, 0)
    expect(stage.model.requests()).toEqual([])
  })

  it('leaves no file and no directory where nothing is configured', async () => {
    await using stage = await createStage()
    const pi = await stage.start()
    await pi.prompt('hello')
    // Longer than anything is put off after a first request.
    await new Promise((resolve) => setTimeout(resolve, 500))
    await pi.close()
    for (const name of ['loops', 'tapline']) expect(existsSync(`${stage.scratch.agent}/${name}`)).toBe(false)
    expect(said(pi)).toEqual([])
  })

  it('prints nothing but the answer in print mode; what is wrong is said on stderr', async () => {
    await using stage = await createStage()
    const log = stage.log('good')
    stage.json({ dead, good: misbehaving('--log', log.path) })
    const { model, scratch } = stage
    const code = `return (await tools.mcp__good__echo({ text: 'printed' })).content[0].text`
    const run = await runPi(['-p', '-e', TAPLINE, `CALL codemode ${JSON.stringify({ code })}`], {
      model,
      scratch,
    })
    expect(run.code).toBe(0)
    expect(run.stderr).toMatch(/^mcp server 'dead' failed: .*\n$/)
    expect(run.stdout).toMatch(/^ECHO\[tool\]: Script completed[^]*\nprinted\n$/)
    await waitUntil(() => !log.pids().some(groupAlive), PATIENCE_MS, 'the server to end')
  })
})

function statuses(events: readonly PiEvent[]): string[] {
  return events.flatMap(({ statusText }) => (statusText === undefined ? [] : [String(statusText)]))
}
