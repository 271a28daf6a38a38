import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { DedupVerdict, Trigger } from '@tapline/core'
import { onTestFinished } from 'vitest'
import { eventually, type Place } from './place.ts'

const SCRIPT = fileURLToPath(new URL('servers/claimer.ts', import.meta.url))

/** What a window said of a trigger. */
export interface Said {
  /** A state of the pipeline, `taken` by the sink, or a `warning`. */
  readonly event: string
  readonly traceId?: string
  readonly reason?: string
}

/** A window in a process of its own. */
export interface Claimer {
  readonly pid: number
  /** Everything that it said, oldest first. */
  readonly said: readonly Said[]
  ask(trigger: Trigger, held?: boolean): Promise<DedupVerdict>
  settle(traceId: string, as: 'done' | 'failed'): Promise<void>
  /** Claims these one after the other and settles them: the keys that were first. */
  race(triggers: readonly Trigger[]): Promise<readonly string[]>
  /** Hands these to its pipeline, with the policy `rules`. */
  push(...triggers: readonly Trigger[]): Promise<void>
  /** From now on its sink never answers. */
  hang(): Promise<void>
  /** Resolves when it has said this of the trigger. */
  saw(event: string, traceId: string): Promise<void>
  /** Kills it as SIGKILL does, and waits for its end. */
  kill(): Promise<void>
  /** Ends the session. */
  end(): Promise<void>
}

/** `mostKilobytes` is the largest file that it may write: beyond that its disk is full. */
export async function startClaimer(
  place: Place,
  { windowMs = 300_000, mostKilobytes }: { windowMs?: number; mostKilobytes?: number } = {},
): Promise<Claimer> {
  const args = [SCRIPT, place.loopsDir, place.project, String(windowMs)]
  const limited = `ulimit -f ${mostKilobytes}; exec "$0" "$@"`
  const [command, ...more] =
    mostKilobytes === undefined
      ? [process.execPath, ...args]
      : ['/bin/bash', '-c', limited, process.execPath, ...args]
  const child = spawn(command, more, { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const said: Said[] = []
  const waiting = new Map<number, (answer: Record<string, unknown>) => void>()
  let lastId = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Record<string, unknown> & Partial<Said>
    if (answer.event === undefined) waiting.get(answer.id as number)?.(answer)
    else said.push(answer as Said)
  })
  const send = (command: object): Promise<Record<string, unknown>> =>
    new Promise((resolve) => {
      const id = ++lastId
      waiting.set(id, resolve)
      child.stdin.write(`${JSON.stringify({ id, ...command })}\n`)
    })
  const has = (event: string, traceId?: string): boolean =>
    said.some((one) => one.event === event && one.traceId === traceId)
  const saw = (event: string, traceId?: string): Promise<void> =>
    eventually(() => {
      if (!has(event, traceId)) throw new Error(`no ${event} of ${traceId} in ${JSON.stringify(said)}`)
    })
  await saw('ready')
  return {
    pid: child.pid ?? -1,
    said,
    ask: async (ask, held = false) => (await send({ ask, held })).verdict as DedupVerdict,
    settle: async (settle, as) => void (await send({ settle, as })),
    race: async (race) => (await send({ race })).firsts as readonly string[],
    push: async (...push) => void (await send({ push })),
    hang: async () => void (await send({ hang: true })),
    saw,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    end: async () => {
      child.stdin.end()
      await ended
    },
  }
}
