import { setTimeout as delay } from 'node:timers/promises'

/** Runs one piece of work, one run at a time. */
export interface Flight<T> {
  /** Whoever asks while it runs gets one further run that begins after it, shared with all who ask. */
  run(): Promise<T>
  /** What has not begun rejects. */
  close(): void
}

/** The clock of {@link createFlight}, for tests. */
export interface Clock {
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
}

/** A run that follows another one so soon first waits for what else comes. */
const SOON_MS = 1_000
const QUIET_MS = 100

/** Inside a minute so many runs are free; then the space between two doubles with each, up to the largest. */
const WINDOW_MS = 60_000
const FREE = 4
const SMALLEST_MS = 250
const LARGEST_MS = 30_000

const CLOCK: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined),
}

/** Single flight with one re-arm: a server that announces a change whenever it is asked is asked less and less often. */
export function createFlight<T>(work: () => Promise<T>, { now, sleep }: Clock = CLOCK): Flight<T> {
  const closing = new AbortController()
  const { signal } = closing
  let starts: readonly number[] = []
  /** Settles with the run that is on its way; never rejects. */
  let running: Promise<unknown> | undefined
  /** The run that has not begun. */
  let waiting: Promise<T> | undefined

  const begin = async (): Promise<T> => {
    await running
    const space = spaceAfter(starts, now())
    if (space > 0) await sleep(space, signal)
    if (signal.aborted) throw new Error('Nobody wants the list any more.')
    starts = [...starts.slice(-31), now()]
    // From here on this run may miss a change: whoever asks now waits for another one.
    waiting = undefined
    const run = work()
    running = run.catch(() => undefined)
    return run
  }
  return {
    run: () => (waiting ??= begin()),
    close: () => closing.abort(),
  }
}

function spaceAfter(starts: readonly number[], time: number): number {
  const last = starts.at(-1)
  if (last === undefined) return 0
  const recent = starts.filter((start) => start > time - WINDOW_MS).length
  const growing = recent < FREE ? 0 : last + Math.min(SMALLEST_MS * 2 ** (recent - FREE), LARGEST_MS) - time
  return Math.max(growing, time - last < SOON_MS ? QUIET_MS : 0)
}
