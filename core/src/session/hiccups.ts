import { setTimeout as sleep } from 'node:timers/promises'
import type { TaplineError } from '../errors.ts'
import type { ConnectionOptions } from './connection.ts'
import { sdkError } from './sdk-errors.ts'

/** How long a server that was overloaded for a moment, or is just being restarted, is given, as under pi. */
const PAUSES_MS = [250, 1_000]

/**
 * Opens a connection; the first one over HTTP twice again after what may have passed already. Whoever waits for the
 * server, the first prompt above all, would otherwise go on without it.
 */
export async function despiteHiccups<T>(
  { server, attempt, signal }: Pick<ConnectionOptions, 'server' | 'attempt' | 'signal'>,
  open: () => Promise<T>,
): Promise<T> {
  const pauses = attempt === 1 && server.transport.type === 'streamable-http' ? PAUSES_MS : []
  for (const pause of pauses) {
    try {
      return await open()
    } catch (thrown) {
      if (signal.aborted || !mayHavePassed(sdkError(thrown))) throw thrown
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined)
  }
  return open()
}

function mayHavePassed({ code, data: { status, unreachable, lasting } }: TaplineError): boolean {
  if (typeof status === 'number') return status === 408 || status === 429 || (status >= 500 && status !== 501)
  return code === 'CONNECTION_CLOSED' || (unreachable === true && lasting !== true)
}
