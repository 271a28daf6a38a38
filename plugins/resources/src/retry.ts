const PAUSE_MS = 250

/** Runs `read`, and once more a moment later when the server was overloaded or just restarting: reading changes nothing. */
export async function retried<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    if (!isTransient(thrown)) throw thrown
    await pause(signal)
    if (signal?.aborted) throw thrown
    return read()
  }
}

function pause(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, PAUSE_MS)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end)
  })
}

/** By shape: packages do not share modules. */
function isTransient(thrown: unknown): boolean {
  const status = (thrown as { readonly data?: { readonly status?: unknown } } | undefined)?.data?.status
  if (typeof status !== 'number') return false
  return status === 408 || status === 429 || (status >= 500 && status !== 501)
}
