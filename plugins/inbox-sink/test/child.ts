import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A script of `children/` that runs in a Node of its own. */
export interface Child {
  /** Resolves when it has printed something. */
  readonly printed: Promise<unknown>
  /** Everything on standard output; rejects when the script failed. */
  readonly output: Promise<string>
  /** Kills it as SIGKILL does, and waits for its end. */
  kill(): Promise<void>
}

export function startChild(script: string, ...args: readonly string[]): Child {
  return start(script, [process.execPath, join(import.meta.dirname, 'children', script), ...args])
}

/** The same, in a process that may write no file larger than so many blocks of 512 bytes: as on a full disk. */
export function startCramped(blocks: number, script: string, ...args: readonly string[]): Child {
  const command = ['/bin/sh', '-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', process.execPath]
  return start(script, [...command, join(import.meta.dirname, 'children', script), ...args])
}

function start(script: string, [file = '', ...args]: readonly string[]): Child {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const printed = once(child.stdout, 'data')
  const all = Promise.all([text(child.stdout), text(child.stderr), ended])
  const output = all.then(([stdout, stderr, [code]]) => {
    if (code !== 0) throw new Error(`${script} ended with ${String(code)}: ${stderr}`)
    return stdout
  })
  output.catch(() => undefined)
  return {
    printed,
    output,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
