/** Resolves when `work` has settled, either way, or after `ms`. */
export async function settledWithin(ms: number, work: () => Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  const settled = Promise.resolve()
    .then(work)
    .catch(() => undefined)
  await Promise.race([settled, late])
  clearTimeout(timer)
}

/** `work`, unless `signal` aborts first; what `work` answers after that is handed to `discard`. */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  discard: (late: T) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      reject(new Error('The session was closed.'))
      work.then(discard, () => undefined)
    }
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    const end = (): void => signal.removeEventListener('abort', abort)
    work.then(
      (value) => {
        end()
        resolve(value)
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}
