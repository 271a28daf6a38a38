import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Parsed } from '../drivers/chat.ts'
import { isolatedEnv } from '../drivers/pi-process.ts'
import { exitOf, within } from '../drivers/processes.ts'
import type { Exit } from '../drivers/processes.ts'
import type { Scratch } from '../drivers/scratch.ts'

/** The `tapline` command of this checkout. */
export const TAPLINE = fileURLToPath(new URL('../../presets/headless/bin/tapline.mjs', import.meta.url))

/** How the command is run. */
export interface RunOptions {
  readonly scratch: Scratch
  /** The project of the scratch directory when absent. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What stands on standard input. */
  readonly input?: string
  /** Another script than that of this checkout, and another Node. */
  readonly script?: string
  readonly node?: string
}

/** The command while it runs. */
export interface Running {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdout: string
  readonly stderr: string
  readonly exited: Promise<Exit>
  /** The first lines of standard output, once there are this many. */
  lines(count: number, ms?: number): Promise<readonly string[]>
}

/** What is left of a run that has ended. */
export interface Ran extends Exit {
  readonly stdout: string
  readonly stderr: string
  /** Standard output as JSON; throws when it is anything else. */
  json(): Parsed
}

/** Starts the command in the environment of a scratch directory. */
export function startTapline(args: readonly string[], options: RunOptions): Running {
  const {
    scratch,
    cwd = scratch.project,
    env = {},
    input,
    script = TAPLINE,
    node = process.execPath,
  } = options
  const child = spawn(node, [script, ...args], {
    cwd,
    env: isolatedEnv(scratch, env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const text = { stdout: '', stderr: '' }
  const watchers = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (more: string) => {
      text[stream] += more
      watchers.forEach((look) => look())
    })
  }
  const exited = exitOf(child)
  return {
    child,
    pid: child.pid ?? -1,
    get stdout() {
      return text.stdout
    },
    get stderr() {
      return text.stderr
    },
    exited,
    lines(count, ms = 20_000) {
      const found = Promise.withResolvers<readonly string[]>()
      const look = (): void => {
        const lines = text.stdout.split('\n').slice(0, -1)
        // A slow machine reads several at once.
        if (lines.length >= count) found.resolve(lines.slice(0, count))
      }
      watchers.add(look)
      look()
      const early = exited.then(({ code }) => {
        throw new Error(`tapline ended with ${code} after ${text.stdout}${text.stderr}`)
      })
      return within(
        Promise.race([found.promise, early]),
        ms,
        () => `${count} lines; there are: ${text.stdout}${text.stderr}`,
      ).finally(() => watchers.delete(look))
    },
  }
}

/** Runs the command to its end. */
export async function runTapline(args: readonly string[], options: RunOptions): Promise<Ran> {
  const running = startTapline(args, options)
  const exit = await within(
    running.exited,
    60_000,
    () => `tapline ${args.join(' ')} to end: ${running.stderr}`,
  ).finally(() => running.child.kill('SIGKILL'))
  const { stdout, stderr } = running
  return { ...exit, stdout, stderr, json: () => JSON.parse(stdout) }
}

/** An entry of mcp.json for a script that Node runs. */
export function stdioEntry(script: string, ...args: readonly string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [script, ...args] }
}
