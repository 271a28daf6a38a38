import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { preparePi } from '../../../test/drivers/pi-process.ts'
import type { Stage } from './stage.ts'

/** Opens pi's own interface and waits until the person leaves it; answers pi's exit code. */
export async function openTerminal({ scratch, model, settings }: Stage): Promise<number> {
  const hints = fileURLToPath(new URL('hints.mjs', import.meta.url))
  const { command, env, cwd } = preparePi({ scratch, model, settings, args: ['-e', hints] })
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    cwd,
    env: { ...env, TERM: process.env['TERM'] ?? 'xterm-256color', COLORTERM: process.env['COLORTERM'] ?? '' },
    stdio: 'inherit',
  })
  // A terminal sends its interrupt to both of us; pi decides what it means.
  process.on('SIGINT', () => undefined)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}
