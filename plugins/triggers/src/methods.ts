/** The list that a change notification is about, by either spelling of the method. */
export const LIST_CHANGES: ReadonlyMap<string, 'tools' | 'resources' | 'prompts'> = new Map(
  (['tools', 'resources', 'prompts'] as const).flatMap((list) => [
    [`notifications/${list}/list_changed`, list],
    [`notifications/${list}/listChanged`, list],
  ]),
)

/**
 * The protocol's own notifications, which are handled where they belong and are never events
 * (schema of each revision from 2024-11-05 to 2026-07-28, ServerNotification).
 */
export const PROTOCOL_METHODS: ReadonlySet<string> = new Set([
  'notifications/message',
  'notifications/progress',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/roots/list_changed',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
  'notifications/tasks',
  'notifications/subscriptions/acknowledged',
])

/** The notification that one resource changed. */
export const RESOURCE_UPDATED = 'notifications/resources/updated'

/** Whether a method says that the server's tool list changed, in either spelling. */
export function isToolsListChanged(method: string | undefined): boolean {
  return method !== undefined && LIST_CHANGES.get(method) === 'tools'
}
