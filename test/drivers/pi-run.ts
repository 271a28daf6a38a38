import type { Parsed } from './chat.ts'
import { preparePi, spawnPi } from './pi-process.ts'
import type { PiOptions } from './pi-process.ts'
import { exitOf, within } from './processes.ts'
import type { Exit } from './processes.ts'

/** How a pi run that ends by itself ended. */
export interface PiRun extends Exit {
  readonly stdout: string
  readonly stderr: string
}

/** Runs pi to its end, as in `runPi(['-p', 'hello'], { model })`; a run longer than `ms` is killed and rejected. */
export async function runPi(
  args: readonly string[],
  options: PiOptions & { readonly ms?: number } = {},
): Promise<PiRun> {
  const prepared = preparePi(options, args)
  const child = spawnPi(prepared, 'ignore')
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => (output[stream] += text))
  }
  const exited = exitOf(child)
  try {
    const exit = await within(
      exited,
      options.ms ?? 60_000,
      () => `pi ${args.join(' ')} to end; stderr: ${output.stderr.slice(-800)}`,
    )
    return { ...exit, ...output }
  } finally {
    child.kill('SIGKILL')
    await prepared.dispose()
  }
}

/** The records of a JSON-mode run. */
export function jsonLines(stdout: string): Record<string, Parsed>[] {
  return stdout
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Record<string, Parsed>)
}
