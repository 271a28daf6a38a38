import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { accessSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import crossSpawn from 'cross-spawn'

/** A child process with all three streams piped. */
export type ServerProcess = ChildProcessWithoutNullStreams

/** What to run, where, and with which environment. */
export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Values that must not be shown, should the server print them. */
  readonly secrets?: readonly string[]
}

/**
 * Runs a server in a process group and session of its own, so that signals from the terminal do not reach
 * it. Throws, or answers a process without `pid` that emits `error`, when it cannot.
 */
export function launch({ command, args, cwd, env }: Launch): ServerProcess {
  return crossSpawn(command, args, {
    cwd,
    env,
    // On Windows "detached" would open a console window.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: 'pipe',
  }) as ServerProcess
}

/** Why a server could not be run, as a sentence. It quotes no argument and no environment: they may be secret. */
export function launchFailure({ command, cwd }: Launch, thrown: unknown): string {
  return `failed to spawn ${shown(command)}: ${reason(command, cwd, (thrown as NodeJS.ErrnoException | undefined)?.code)}`
}

function reason(command: string, cwd: string, code: string | undefined): string {
  const directory = statSync(cwd, { throwIfNoEntry: false })
  if (directory === undefined) return `the directory ${shown(cwd)} does not exist`
  if (!directory.isDirectory()) return `${shown(cwd)} is not a directory`
  if (code === 'ENOENT') {
    // With a path that is there, it is the first line of the script that names what is missing.
    return command.includes('/') && exists(isAbsolute(command) ? command : resolve(cwd, command))
      ? 'its interpreter was not found'
      : 'command not found'
  }
  if (code === 'EACCES') return 'permission denied'
  if (code === 'ERR_INVALID_ARG_VALUE') return 'the command, an argument or the environment is not valid'
  return code ?? 'unknown reason'
}

function exists(path: string): boolean {
  try {
    accessSync(path)
    return true
  } catch {
    return false
  }
}

function shown(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '?')
}
