import { backoffDelay, Nap } from './backoff.ts'
import type { ListenFilter } from './client.ts'
import type { Connection } from './connection.ts'

const RELISTEN = { initialMs: 500, maxMs: 30_000 }
const LISTEN_TIMEOUT_MS = 30_000
/** A stream that ends sooner counts as a failure: listening again at once would only repeat it. */
const LASTED_MS = 5_000

/**
 * Keeps a `subscriptions/listen` stream open on a modern connection until it closes. After every
 * break the stream is opened again and `onResumed` is called: nothing is redelivered
 * (specification 2026-07-28, basic/patterns/subscriptions), so the caller must list anew.
 */
export function keepListening(connection: Connection, onResumed: () => void): () => void {
  const filter = filterFor(connection.client.capabilities)
  if (connection.era !== 'modern' || Object.keys(filter).length === 0) return () => undefined
  const stop = new AbortController()
  const nap = new Nap()
  const run = async (): Promise<void> => {
    let failures = 0
    for (let round = 0; !stop.signal.aborted; round++) {
      try {
        const stream = await connection.client.listen(filter, {
          signal: stop.signal,
          timeoutMs: LISTEN_TIMEOUT_MS,
        })
        const openedAt = performance.now()
        if (round > 0) onResumed()
        if ((await stream.closed) === 'local') return
        failures = performance.now() - openedAt < LASTED_MS ? failures + 1 : 0
      } catch {
        failures++
      }
      if (!stop.signal.aborted) await nap.sleep(backoffDelay(Math.max(failures, 1), RELISTEN))
    }
  }
  const end = (): void => {
    stop.abort()
    nap.wake()
  }
  void run()
  void connection.closed.then(end)
  return end
}

function filterFor(capabilities: Readonly<Record<string, unknown>>): ListenFilter {
  const changes = (feature: string): boolean =>
    (capabilities[feature] as { readonly listChanged?: unknown } | undefined)?.listChanged === true
  return {
    ...(changes('tools') ? { toolsListChanged: true } : {}),
    ...(changes('prompts') ? { promptsListChanged: true } : {}),
    ...(changes('resources') ? { resourcesListChanged: true } : {}),
  }
}
