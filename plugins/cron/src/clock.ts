/** Time as the timetable sees it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `work` once after `ms`, without keeping the process alive; answers how to call it off. */
  wake(ms: number, work: () => Promise<void>): () => void
}

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wake: (ms, work) => {
    const timer = setTimeout(() => void work(), Math.min(ms, LONGEST_TIMER_MS))
    timer.unref()
    return () => clearTimeout(timer)
  },
}
