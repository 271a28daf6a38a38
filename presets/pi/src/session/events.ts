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
  server(server: Server, tools: number): void
}

/** The event bus of one session. */
export function createEvents(pi: ExtensionAPI): SessionEvents {
  const last = new Map<string, string>()
  const emit = (event: ServerEvent): void => {
    const said = JSON.stringify(event)
    if (last.get(event.server) === said) return
    last.set(event.server, said)
    pi.events.emit('tapline:server', event)
  }
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
    server: ({ spec, session, listed }, tools) => {
      const { state, reason } = session.status
      const base = { version: 1, server: spec.name, tools } as const
      if (state === 'connected') {
        const started = last.get(spec.name)?.includes('"event":"started"') || last.get(spec.name)?.includes('"event":"tools_changed"')
        emit({ ...base, event: started && listed ? 'tools_changed' : 'started' })
      } else if (state === 'disabled') {
        emit({ ...base, event: 'stopped' })
      } else if (reason !== undefined) {
        emit({ ...base, event: 'error', error: reason })
      }
    },
  }
}
