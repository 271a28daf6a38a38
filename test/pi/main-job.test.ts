import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTerminal } from '../drivers/terminal.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const START = ['presets/pi/start/bootstrap.mjs', 'presets/pi/start/story.ts']

describe('the main job', () => {
  it('plays the story without a terminal, says what happened and exits 0', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, START, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 100_000,
    })
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const steps = [
      'everything: connected · 16 tools',
      'notify: connected · 1 tool',
      'was answered: "Echo: hello from the model"',
      'A push arrived in the chat: [Trigger ',
      'received=2 = delivered=2 ',
      'All of it happened: 2 pushes shown, 2 model calls.',
    ]
    let at = 0
    for (const step of steps) {
      const found = stdout.indexOf(step, at)
      expect(found, `"${step}" in its place in ${stdout}`).toBeGreaterThanOrEqual(0)
      at = found
    }
  })

  it('opens pi’s own interface in a terminal, with what to try', async () => {
    await using terminal = await startTerminal({
      command: [process.execPath, ...START],
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        TMPDIR: process.env.TMPDIR ?? '/tmp',
      },
      cwd: ROOT,
      columns: 116,
      rows: 36,
    })
    await terminal.waitForScreen(/^ *MCP 2\/2 *$/m, 60_000)
    await terminal.waitForScreen(/Try "echo hello"/, 20_000)
    await terminal.submit('echo hello from the keyboard')
    await terminal.waitForScreen(/The tool answered: Echo: hello from the keyboard/, 40_000)
    await terminal.waitForScreen(/\[tapline:push\][\s\S]*demo beat \d/, 40_000)
    await terminal.key('C-c')
    await terminal.key('C-c')
    expect(await terminal.waitForExit(20_000)).toBe(0)
  })
})
