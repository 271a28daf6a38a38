import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { servers } from '../drivers/fixtures.ts'
import { isolatedEnv } from '../drivers/pi-process.ts'
import { descendants, exitOf, processAlive, waitUntil, within } from '../drivers/processes.ts'
import { createScratch } from '../drivers/scratch.ts'

const PRESET = fileURLToPath(new URL('../../examples/own-preset.mjs', import.meta.url))

it('a preset of somebody’s own prints what is pushed, says what is wrong, and leaves nothing behind', async () => {
  await using scratch = createScratch()
  scratch.write('agent/mcp.json', {
    mcpServers: {
      hub: { command: process.execPath, args: [servers.notify, '--every', '50'] },
      dead: { command: '/nowhere/server' },
      typo: { comand: 'node' },
      off: { command: 'touch', args: [`${scratch.root}/off`], enabled: false },
    },
  })
  const child = spawn(process.execPath, [PRESET], { cwd: scratch.project, env: isolatedEnv(scratch) })
  const exited = exitOf(child)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const isTold = () => stdout.split('\n').length > 3 && stderr.includes('dead: disconnected')
  await waitUntil(isTold, 30_000, () => stdout + stderr)
  const started = descendants(child.pid!)
  expect(started.length).toBeGreaterThan(0)
  child.kill('SIGINT')
  expect(await within(exited, 10_000, () => stderr)).toEqual({ code: 0, signal: null })
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    'hub: notifications/pi/demo/heartbeat demo beat 1',
    'hub: notifications/pi/demo/heartbeat demo beat 2',
  ])
  expect(stderr).toMatch(/^mcp server 'typo' failed: .*did you mean "command"/m)
  expect(stderr).toMatch(/^dead: failed to spawn \/nowhere\/server: command not found\./m)
  expect(stderr).toMatch(/^hub: connected$/m)
  // The reaper, which sees to it that none is left, ends a moment later.
  await waitUntil(() => !started.some(({ pid }) => processAlive(pid)), 10_000, 'the servers to be gone')
})
