import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A script of `children/` that runs in a Node of its own. */
export interface Child {
  readonly pid: number
  /** Resolves when this line has been printed. */
  printed(line: string): Promise<void>
  /** Everything on standard output; rejects when the script failed. */
  readonly output: Promise<string>
  /** What has been printed on standard error. */
  readonly stderr: string
  /** Kills it as SIGKILL does, and waits for its end. */
  kill(): Promise<void>
}

/** Runs `children/<script>` with these arguments; what still runs when the test ends is killed. */
export function startChild(script: string, ...args: readonly string[]): Child {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'children', script), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const text = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text.stdout += more))
  child.stderr.setEncoding('utf8').on('data', (more: string) => (text.stderr += more))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = ended.then((code) => {
    if (code !== 0) throw new Error(`${script} ended with ${code}: ${text.stderr}`)
    return text.stdout
  })
  output.catch(() => undefined)
  return {
    pid: child.pid ?? -1,
    output,
    get stderr() {
      return text.stderr
    },
    printed: (line) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (text.stdout.split('\n').includes(line)) resolve()
        }
        child.stdout.on('data', look)
        look()
        output.then(() => reject(new Error(`${script} ended without "${line}"`)), reject)
      }),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
