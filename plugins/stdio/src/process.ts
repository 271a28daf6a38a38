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

/** Why a server could not be run. Nothing of it quotes an argument or the environment: they may be secret. */
export interface LaunchFailure {
  /** As a sentence. */
  readonly message: string
  /** What to do about it; absent where nothing but another attempt may help. */
  readonly advice?: string
}

/** Explains what `launch` threw, or what its process emitted. */
export function launchFailure({ command, cwd }: Launch, thrown: unknown): LaunchFailure {
  const { reason, remedy } = reasonOf(command, cwd, (thrown as NodeJS.ErrnoException | undefined)?.code)
  const message = `failed to spawn ${shown(command)}: ${reason}`
  return remedy === undefined ? { message } : { message, advice: `${remedy}, then /mcp reconnect it.` }
}

interface Reason {
  readonly reason: string
  readonly remedy?: string
}

function reasonOf(command: string, cwd: string, code: string | undefined): Reason {
  const problem = directoryProblem(cwd)
  if (problem !== undefined)
    return { reason: problem, remedy: 'Make that directory, or fix "cwd" in the entry' }
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      // With a path that is there, it is the first line of the script that names what is missing.
      return command.includes('/') && exists(isAbsolute(command) ? command : resolve(cwd, command))
        ? { reason: 'its interpreter was not found', remedy: 'Install what its first line names' }
        : { reason: 'command not found', remedy: 'Install it, or write its full path in the entry' }
    case 'EACCES':
      return { reason: 'permission denied', remedy: 'Make it executable, or fix "command" in the entry' }
    case 'ERR_INVALID_ARG_VALUE':
      return {
        reason: 'the command, an argument or the environment is not valid',
        remedy: 'Take the null character out of the entry',
      }
    case 'E2BIG':
      return {
        reason: 'its arguments and environment are too long',
        remedy: 'Shorten them, or set "inheritEnv" to false in the entry',
      }
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
    case 'ETXTBSY':
      return { reason: `this machine cannot run it now (${code})` }
    default:
      return { reason: code ?? 'unknown reason', remedy: 'Fix "command" in the entry' }
  }
}

function directoryProblem(path: string): string | undefined {
  try {
    const directory = statSync(path, { throwIfNoEntry: false })
    if (!directory) return `the directory ${shown(path)} does not exist`
    return directory.isDirectory() ? undefined : `${shown(path)} is not a directory`
  } catch (thrown) {
    return `the directory ${shown(path)} cannot be looked at (${(thrown as NodeJS.ErrnoException).code})`
  }
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
