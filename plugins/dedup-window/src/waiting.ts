/** As it is now: what replaces timers later, for a test, must not stop the window. */
const immediate = setImmediate

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void immediate(resolve))
}

/** So many milliseconds; the process need not stay for them unless it `keepsRunning`. */
export function pause(ms: number, keepsRunning: boolean): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    if (!keepsRunning) timer.unref()
  })
}

/** Resolves when `work` has, or when it has taken too long. */
export async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
  await Promise.race([work, late])
  clearTimeout(timer)
}
