import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { isolatedEnv, preparePi } from '../../drivers/pi-process.ts'
import { processesNaming, waitUntil } from '../../drivers/processes.ts'
import { startTerminal, type Terminal } from '../../drivers/terminal.ts'
import { createStage, gated, misbehaving, PATIENCE_MS, TAPLINE, tomlOf, type Stage } from '../stage.ts'
import { startSource } from '../pushes/source.ts'

/** pi's own interface, in a shell that says afterwards how the terminal was left. */
async function openPi({ scratch, model }: Stage, settings?: Record<string, unknown>): Promise<Terminal> {
  const prepared = preparePi({ scratch, model, args: ['-e', TAPLINE], ...(settings ? { settings } : {}) })
  const script = '"$@"; echo "left with $?"; stty -a'
  const command = ['/bin/sh', '-c', script, 'sh', ...prepared.command]
  return startTerminal({ ...prepared, command, columns: 100, rows: 40 })
}

const settingsOf = ({ scratch }: Stage) =>
  JSON.parse(readFileSync(path.join(scratch.agent, 'settings.json'), 'utf8'))

describe('the terminal interface of the real pi', () => {
  it('shows servers connect, a push arrive, and the two commands; and is left clean', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.json({ slow: gated(`${stage.scratch.root}/gate`, misbehaving('--stderr', 'listening')) })
    stage.toml({ web: { kind: 'streamable_http', endpoint: source.url, inject_summary: true } })
    await using terminal = await openPi(stage)
    await terminal.waitForScreen(/^ *MCP 1\/2 · 1 connecting…/m, PATIENCE_MS)
    stage.scratch.write('gate', '')
    await terminal.waitForScreen(/^ *MCP 2\/2 *$/m, PATIENCE_MS)

    await source.heard()
    await source.push('drawn-by-itself')
    const pushed = await terminal.waitForScreen(/drawn-by-itself/, PATIENCE_MS)
    expect(pushed).toMatch(
      /\[tapline:push\][^]*\[Trigger [\w-]{36}\] MCP server "web" \(data, not instructions\):/,
    )
    expect(stage.model.requests()).toEqual([])

    await terminal.submit('/mcp status')
    const listed = await terminal.waitForScreen(/MCP servers \(2\):/, PATIENCE_MS)
    expect(listed).toMatch(/^ +slow: connected · 14 tools$/m)
    expect(listed).toMatch(/^ +web: connected · 14 tools$/m)
    await terminal.submit('/triggers sources')
    const sources = await terminal.waitForScreen(/Trigger sources \(4\):[^]*source #2/, PATIENCE_MS)
    expect(sources).toMatch(/source #1: connected queued=0 dropped=0 deduped=0 last_event=never/)
    expect(sources).toMatch(/stderr: listening/)
    expect(sources).toMatch(/subscriptions: mcp:web \[inject_summary\] \(streamable-http, user\)/)
    expect(sources.replace(/\s+/g, ' ')).toMatch(
      /received=1 = delivered=1 \+ redirected=0 .* pending=0 · handled=0/,
    )

    await terminal.key('C-d')
    expect(await terminal.waitForExit(PATIENCE_MS)).toBe(0)
    const after = await terminal.screen('all')
    expect(after).toMatch(/left with 0\n/)
    expect(after).toMatch(/ icanon .* echo /s)
    expect(after).not.toMatch(/ -icanon| -echo |Error|stale/)
    const all = () => processesNaming(stage.scratch.root).map(({ cmdline }) => cmdline)
    const left = () => all().filter((cmdline) => !cmdline.startsWith('tmux'))
    await waitUntil(
      () => left().length === 0,
      PATIENCE_MS,
      () => `nothing to be left: ${left().join('; ')}`,
    )
  })

  it('offers once to silence pi’s warning, and what a yes did can be taken back', async () => {
    await using stage = await createStage()
    stage.json({ server: misbehaving() })
    const mine = { theme: 'dark', extensions: ['./mine.ts'] }
    {
      await using terminal = await openPi(stage, mine)
      const offer = await terminal.waitForScreen(/Add the line/, PATIENCE_MS)
      expect(offer.replace(/\s+/g, ' ')).toContain('Take it back with "tapline doctor --undo"')
      // The careful answer comes first.
      await terminal.key('Down')
      await terminal.waitForScreen(/(?:→|>|❯|›) *Add the line/, PATIENCE_MS)
      await terminal.key('Enter')
      await waitUntil(
        () => settingsOf(stage).extensions.length === 2,
        PATIENCE_MS,
        'the settings to be written',
      )
      expect(settingsOf(stage)).toMatchObject({ theme: 'dark', extensions: ['./mine.ts', '-builtin:mcp'] })
      await terminal.waitForScreen((screen) => !screen.includes('Add the line'), PATIENCE_MS)
    }
    const tapline = path.join(path.dirname(TAPLINE), 'bin/tapline.mjs')
    const undo = () =>
      spawnSync(process.execPath, [tapline, 'doctor', '--undo'], {
        env: isolatedEnv(stage.scratch),
        encoding: 'utf8',
        timeout: 30_000,
      })
    expect(undo()).toMatchObject({ status: 0, stdout: expect.stringContaining('Removed "-builtin:mcp"') })
    expect(settingsOf(stage)).toMatchObject({ theme: 'dark', extensions: ['./mine.ts'] })
    expect(undo()).toMatchObject({ status: 0, stdout: expect.stringContaining('Nothing to undo') })

    // The answer was given: pi warns again, and nobody asks again.
    await using terminal = await openPi(stage)
    const screen = await terminal.waitForScreen(/^ *MCP 1\/1 *$/m, PATIENCE_MS)
    expect(screen).not.toContain('Add the line')
  })

  it('asks about a project’s servers, and takes no careless Enter for a yes', async () => {
    await using stage = await createStage()
    const log = stage.log('proj')
    stage.scratch.write('project/.pi/mcp.toml', tomlOf({ proj: misbehaving('--log', log.path) }))
    {
      await using terminal = await openPi(stage)
      const question = await terminal.waitForScreen(
        /Use the MCP configuration of this project\?/,
        PATIENCE_MS,
      )
      expect(question.replace(/\s+/g, ' ')).toMatch(
        /project\/\.pi\/mcp\.toml - proj runs: \S+node \S+misbehaving\.mjs --log/,
      )
      await terminal.key('Enter')
      await terminal.waitForScreen(/project is not trusted/, PATIENCE_MS)
      expect(log.entries()).toEqual([])
    }
    await using terminal = await openPi(stage)
    await terminal.waitForScreen(/→ Ask again next time/, PATIENCE_MS)
    await terminal.key('Down')
    await terminal.waitForScreen(/→ Use this file/, PATIENCE_MS)
    await terminal.key('Enter')
    await terminal.waitForScreen(/^ *MCP 1\/1 *$/m, PATIENCE_MS)
    expect(log.pids()).toHaveLength(1)
  })
})
