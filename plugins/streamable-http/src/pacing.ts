import { setTimeout as sleep } from 'node:timers/promises'

const INITIAL_MS = 500
const MAX_TIMER_MS = 2_147_483_647
/** A server may ask for a pause, neither for none at all nor for the end. */
const MIN_RETRY_MS = 50
const MAX_RETRY_MS = 3_600_000

/** The pause after so many failures in a row, at least what the server asked for with `retry:`. */
export function reopenDelay(failures: number, maxMs: number, retryMs: number | undefined): number {
  const asked = retryMs === undefined ? undefined : Math.min(Math.max(retryMs, MIN_RETRY_MS), MAX_RETRY_MS)
  if (failures === 0 && asked !== undefined) return asked
  const delay = Math.min(maxMs, INITIAL_MS * 2 ** Math.min(Math.max(failures - 1, 0), 16))
  return Math.max(asked ?? 0, Math.round(delay * (0.8 + Math.random() * 0.4)))
}

/** Resolves after `ms`, or at once when `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** `ms` as a timer can take it; nothing and less mean without end. */
export function timerMs(ms: number): number {
  return ms > 0 ? Math.min(ms, MAX_TIMER_MS) : MAX_TIMER_MS
}

/** Calls back once after `ms` without a sign of life. */
export class Watchdog {
  readonly #timer: NodeJS.Timeout
  expired = false

  constructor(ms: number, onExpired: () => void) {
    this.#timer = setTimeout(() => {
      this.expired = true
      onExpired()
    }, timerMs(ms))
  }

  touch(): void {
    if (!this.expired) this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
