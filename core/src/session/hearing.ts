import type { Frame } from '../types/index.ts'
import type { Connection } from './connection.ts'
import { keepListening } from './listening.ts'
import { subscribe, type SubscriptionStatus } from './subscriptions.ts'

const RESOURCES_CHANGED: ReadonlySet<string | undefined> = new Set([
  'notifications/resources/list_changed',
  'notifications/resources/listChanged',
])

/** What keeps a connection's pushes coming. */
export interface Hearing {
  /** Every notification of the server passes here as well. */
  hear(frame: Frame): void
  stop(): void
}

/** Who is told. */
export interface HearingEvents {
  /** Something may have been missed: lists are to be read anew. */
  onStale(): void
  onSubscriptions(status: SubscriptionStatus): void
}

/** Listens to a new connection, and subscribes it to `wanted` resources. */
export function hearPushes(
  connection: Connection,
  wanted: readonly string[],
  events: HearingEvents,
): Hearing {
  const listener = keepListening(connection, {
    onResumed: () => events.onStale(),
    onHonored: (asked, honored) => subscriptions.honored(asked, honored),
  })
  const subscriptions = subscribe(connection, wanted, listener, (status) => events.onSubscriptions(status))
  return {
    hear: ({ method }) => {
      if (RESOURCES_CHANGED.has(method)) subscriptions.refresh()
    },
    stop: () => listener.stop(),
  }
}
