import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'
import type { Plugin, TriggerEvent } from '@tapline/core'
import type { Server } from '@tapline/headless'

/** What other extensions are told on `tapline:server`. */
export interface ServerEvent {
  readonly version: 1
  readonly event: 'started' | 'stopped' | 'error' | 'tools_changed'
  readonly server: string
  readonly tools: number
  readonly error?: string
}

/** What other extensions are told on `tapline:trigger`. */
export interface TriggerStateEvent extends TriggerEvent {
  readonly version: 1
}

/** Tells other extensions on `pi.events` what servers and triggers do. */
export interface SessionEvents {
  readonly plugin: Plugin
  /** Something about a server may have changed; `tools` are those that are registered now. */
  server(server: Server, tools: readonly string[]): void
}

/** What was said of a server last. */
interface Told {
  readonly event: 'started' | 'stopped' | 'error'
  readonly detail: string
}

/** The event bus of one session. */
export function createEvents(pi: ExtensionAPI): SessionEvents {
  const told = new Map<string, Told>()
  return {
    plugin: {
      name: 'pi-events',
      api: 1,
      setup({ hooks }) {
        hooks.deliver.observe((event) => {
          pi.events.emit('tapline:trigger', { version: 1, ...event })
          return undefined
        })
      },
    },
    server: (server, tools) => {
      const { spec } = server
      const now = standing(server, tools)
      const before = told.get(spec.name)
      if (!now || (before?.event === now.event && before.detail === now.detail)) return
      if (!before && now.event === 'stopped') return
      told.set(spec.name, now)
      const event = now.event === 'started' && before?.event === 'started' ? 'tools_changed' : now.event
      const error = now.event === 'error' ? { error: now.detail } : {}
      const said: ServerEvent = { version: 1, event, server: spec.name, tools: tools.length, ...error }
      pi.events.emit('tapline:server', said)
    },
  }
}

/** Where a server stands, if that is worth an event: one that has not listed its tools has not started. */
function standing({ spec, session, listed, listError }: Server, tools: readonly string[]): Told | undefined {
  const { state, reason } = session.status
  if (!spec.enabled || state === 'disabled') return { event: 'stopped', detail: '' }
  if (state === 'connected')
    return listed || listError !== undefined ? { event: 'started', detail: tools.join() } : undefined
  return reason === undefined ? undefined : { event: 'error', detail: reason }
}
