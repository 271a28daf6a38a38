import { type FSWatcher, mkdirSync, watch } from 'node:fs'
import { createDepartures, type Departures } from './checks/departures.ts'
import { createRuns, type Runs } from './checks/runs.ts'
import type { Ground } from './ground.ts'
import { createPoller } from './polling/poller.ts'
import { createPump, type Pump } from './queue/pump.ts'
import { release } from './queue/working.ts'
import { reasonOf } from './troubles.ts'

/** What checks rules in this session. */
export interface Engine {
  readonly runs: Runs
  readonly departures: Departures
  readonly pump: Pump
  /** Ends within a bounded time. What was not finished is free for others. */
  close(): Promise<void>
}

const DEBOUNCE_MS = 30
/** The kernel gives a plugin ten seconds to end. */
const ENDING_MS = 4_000

/**
 * Starts the engine. Where no sub-agent can run, it only brings to the inbox what belongs there; where pushes are not
 * delivered, nothing runs by itself.
 */
export function startEngine(ground: Ground): Engine {
  const runs = createRuns(ground.settings.maxConcurrentRuns, () => ground.changed())
  const departures = createDepartures(ground)
  const pump = createPump(ground, runs, departures)
  if (!ground.host.delivers) {
    void pump.close()
    return { runs, departures, pump, close: () => ground.spending.flush() }
  }
  const poller = createPoller(ground, runs, departures, () => pump.poke())
  const timers = [
    setInterval(() => pump.poke(), ground.timing.watchMs),
    setInterval(() => void poller.tick(), Math.min(ground.timing.tickMs, ground.settings.pollIntervalMs)),
  ]
  for (const timer of timers) timer.unref()
  const watcher = watchFiles(ground, () => pump.poke())
  pump.poke()
  return {
    runs,
    departures,
    pump,
    close: async () => {
      for (const timer of timers) clearInterval(timer)
      watcher.close()
      await Promise.all([within(pump.close()), runs.end(ENDING_MS)])
      try {
        await ground.backlog.retry()
        await ground.queue.change((file) => [release(file, ground.self()), undefined])
      } catch (thrown) {
        ground.troubles.happened(
          `what this session was checking could not be given back: ${reasonOf(thrown)}`,
        )
      }
      await ground.spending.flush()
    },
  }
}

/** What waits for an inbox or a lock may wait for long: it can be done by others. */
function within(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ENDING_MS)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Told soon when rules, queue or budget have changed, by whichever process. The intervals make up for what it misses. */
function watchFiles(ground: Ground, onQueue: () => void): { close(): void } {
  let timer: NodeJS.Timeout | undefined
  let watcher: FSWatcher | undefined
  try {
    mkdirSync(ground.host.paths.loopsDir, { recursive: true, mode: 0o700 })
    watcher = watch(ground.host.paths.loopsDir, { persistent: false }, (_event, name) => {
      if (name !== null && !WATCHED.has(name)) return
      timer ??= setTimeout(() => {
        timer = undefined
        onQueue()
        ground.changed()
      }, DEBOUNCE_MS).unref()
    })
    // A directory that goes away, or a system that can watch no more.
    watcher.on('error', () => watcher?.close())
  } catch {
    // The intervals are enough.
  }
  return {
    close: () => {
      clearTimeout(timer)
      watcher?.close()
    },
  }
}

const WATCHED = new Set(['trigger-queue.json', 'triggers.json', 'spend.json'])
