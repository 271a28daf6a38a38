import type { TaplineError } from '../errors.ts'
import type { Frame, ServerSpec } from '../types/index.ts'
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
  /** A push stream is open. */
  onOpened(): void
  /** A push stream is refused for its credentials. */
  onRefused(error: TaplineError): void
}

/** Listens to a new connection, and subscribes it to the resources that the server's entry wants. */
export function hearPushes(
  connection: Connection,
  { subscribe: wanted = [], requestTimeoutMs: timeoutMs }: ServerSpec,
  events: HearingEvents,
): Hearing {
  const { transport } = connection
  const noteOpen = (): void => {
    if (connection.report().pushStream === 'open') events.onOpened()
  }
  const onreport = transport.onreport
  transport.onreport = () => {
    noteOpen()
    onreport?.()
  }
  transport.onpushrefused = (thrown) => events.onRefused(connection.explain(thrown))
  noteOpen()
  const listener = keepListening(connection, {
    onOpened: () => events.onOpened(),
    onRefused: (error) => events.onRefused(error),
    onResumed: () => events.onStale(),
    onHonored: (asked, honored) => subscriptions.honored(asked, honored),
  })
  const subscriptions = subscribe(connection, { wanted, timeoutMs }, listener, (status) =>
    events.onSubscriptions(status),
  )
  return {
    hear: ({ method }) => {
      if (RESOURCES_CHANGED.has(method)) subscriptions.refresh()
    },
    stop: () => listener.stop(),
  }
}
