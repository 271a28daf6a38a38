import { setTimeout as delay } from 'node:timers/promises'

/** Runs one piece of work for each key at a time. */
export interface Flights<T> {
  /** Whoever asks while work runs gets one further run that begins after it, shared with all who ask. */
  run(key: string, work: () => Promise<T>): Promise<T>
  /** What has not begun rejects. */
  close(): void
}

/** The clock of {@link createFlights}, for tests. */
export interface Clock {
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
}

/** A run that follows another one so soon first waits until nobody has asked for a moment, within a limit. */
const SOON_MS = 1_000
const QUIET_MS = 100
const LONGEST_MS = 2_000

/** Inside a minute so many runs are free; then the space between two doubles with each, up to the largest. */
const WINDOW_MS = 60_000
const FREE = 4
const SMALLEST_MS = 250
const LARGEST_MS = 30_000

const CLOCK: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined),
}

interface Flight<T> {
  work: () => Promise<T>
  /** How often somebody asked. */
  asked: number
  /** Settles with the run that is on its way; never rejects. */
  running?: Promise<unknown>
  /** The run that has not begun. */
  waiting?: Promise<T> | undefined
  starts: readonly number[]
}

/**
 * Single flight with one re-arm: a burst costs at most two runs, and a server that announces a change
 * whenever it is asked is asked less and less often.
 */
export function createFlights<T>({ now, sleep }: Clock = CLOCK): Flights<T> {
  const flights = new Map<string, Flight<T>>()
  const closing = new AbortController()
  const { signal } = closing

  const begin = async (flight: Flight<T>): Promise<T> => {
    await flight.running
    const armed = now()
    if (armed - (flight.starts.at(-1) ?? -Infinity) < SOON_MS) {
      let asked: number
      do {
        asked = flight.asked
        await sleep(QUIET_MS, signal)
      } while (asked !== flight.asked && now() - armed < LONGEST_MS && !signal.aborted)
    }
    const space = spaceAfter(flight.starts, now())
    if (space > 0) await sleep(space, signal)
    if (signal.aborted) throw new Error('The catalogue of tools is closed.')
    flight.starts = [...flight.starts.slice(-31), now()]
    // From here on this run may miss a change: whoever asks now waits for another one.
    flight.waiting = undefined
    const run = flight.work()
    flight.running = run.catch(() => undefined)
    return run
  }

  return {
    run: (key, work) => {
      const flight = flights.get(key) ?? { work, asked: 0, starts: [] }
      flights.set(key, flight)
      flight.work = work
      flight.asked += 1
      flight.waiting ??= begin(flight)
      return flight.waiting
    },
    close: () => closing.abort(),
  }
}

function spaceAfter(starts: readonly number[], time: number): number {
  const recent = starts.filter((start) => start > time - WINDOW_MS).length
  if (recent < FREE) return 0
  return (starts.at(-1) as number) + Math.min(SMALLEST_MS * 2 ** (recent - FREE), LARGEST_MS) - time
}
