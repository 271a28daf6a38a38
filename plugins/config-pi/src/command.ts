import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const COMMAND_TIMEOUT_MS = 10_000
const LARGEST = 1024 * 1024

/** What a command printed, or why there is nothing to use. The reason never holds output. */
export type CommandResult = { readonly value: string } | { readonly failure: string }

/** Where a command runs. */
export interface CommandPlace {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** Runs a shell command and answers its trimmed standard output. Standard error is never read. */
export function runCommand(command: string, { cwd, env, signal }: CommandPlace): Promise<CommandResult> {
  if (signal.aborted) return Promise.resolve({ failure: 'was cancelled' })
  // Node’s own message would quote the command.
  if (command.includes('\0')) return Promise.resolve({ failure: 'holds a null character' })
  return new Promise((resolve) => {
    const { file, args, verbatim } = shellFor(command, env)
    const child = spawn(file, args, {
      cwd,
      env: { ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      // A group of its own, so that what the shell started ends with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    })
    const chunks: Buffer[] = []
    let size = 0
    const settle = (result: CommandResult): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
      resolve(result)
    }
    const giveUp = (failure: string): void => {
      killGroup(child)
      settle({ failure })
    }
    const cancel = (): void => giveUp('was cancelled')
    const timer = setTimeout(
      () => giveUp(`did not end within ${COMMAND_TIMEOUT_MS / 1000} s`),
      COMMAND_TIMEOUT_MS,
    )
    signal.addEventListener('abort', cancel, { once: true })
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > LARGEST) giveUp('printed more than 1 MiB')
      else chunks.push(chunk)
    })
    child.once('error', () => settle({ failure: 'could not be started' }))
    child.once('close', (code, ended) => {
      const value = Buffer.concat(chunks).toString('utf8').trim()
      if (code !== 0)
        settle({
          failure: code === null ? `was ended by ${ended ?? 'a signal'}` : `failed with exit code ${code}`,
        })
      else settle(value === '' ? { failure: 'printed nothing' } : { value })
    })
  })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    if (process.platform === 'win32')
      spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true })
    else process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

/** As pi: the system's shell, on Windows Git's bash where there is one. */
function shellFor(
  command: string,
  env: CommandPlace['env'],
): { file: string; args: string[]; verbatim: boolean } {
  if (process.platform !== 'win32') return { file: '/bin/sh', args: ['-c', command], verbatim: false }
  const bash = [env.ProgramFiles, env['ProgramFiles(x86)']]
    .map((folder) => join(folder ?? 'C:\\Program Files', 'Git', 'bin', 'bash.exe'))
    .find((file) => existsSync(file))
  if (bash !== undefined) return { file: bash, args: ['-c', command], verbatim: false }
  return { file: env.ComSpec ?? 'cmd.exe', args: ['/d', '/s', '/c', `"${command}"`], verbatim: true }
}
