import { spawn } from 'node:child_process'
import { preparePi } from '../../../test/drivers/pi-process.ts'
import type { Stage } from './stage.ts'

const HINTS = `
Tapline in the real pi: a scratch directory, a scripted model, two real MCP servers.
  Wait: pushes of the server "notify" arrive in the chat by themselves.
  Type: echo hello            the model calls a tool of the server "everything"
        /mcp                  the servers, their tools and where they are configured
        /triggers sources     what was pushed and what became of it
  Quit: Ctrl+C twice.
`

/** Opens pi's own interface and waits until the person leaves it; answers pi's exit code. */
export async function openTerminal({ scratch, model, settings }: Stage): Promise<number> {
  const { command, env, cwd } = preparePi({ scratch, model, settings })
  const [file = '', ...args] = command
  console.log(HINTS)
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
