import {
  cleanLines,
  createProjects,
  type Diagnostic,
  files,
  type Host,
  loadOAuth,
  soundEvent,
  type Trigger,
} from '@tapline/core'
import { redact } from '@tapline/triggers'
import { type Audit, auditTrail } from '../state/audit.ts'
import { joinWindows, type Presence } from '../state/windows.ts'
import type { TaplineOptions } from './options.ts'
import type { Tapline } from './tapline.ts'

/** The host that plugins see, and what it stands on. */
export interface RunningHost {
  readonly host: Host
  /** Plugins may now reach servers and the pipeline. */
  attach(tapline: Tapline): void
  /** Others are told that this session is about to end. */
  end(): void
  /** Whether another window has the very same directory open, and with it the same servers. */
  hasCompany(): boolean
  /** Writes what is left and leaves. */
  close(): Promise<void>
}

/** The host of one Tapline. Only where pushes are delivered does it say to others that it is there. */
export function runHost(options: TaplineOptions, tell: (diagnostic: Diagnostic) => void): RunningHost {
  const { info, mode, env, paths, chat, credentials, agents, isModelProvider, providerToken, sessionId } =
    options
  const delivers = options.pushes === 'deliver'
  const projects = createProjects(paths.home)
  let tapline: Tapline | undefined
  const attached = Promise.withResolvers<Tapline | undefined>()
  let early: Trigger[] = []
  let presence: Presence | undefined
  let audit: Audit | undefined
  if (delivers) {
    const kind = mode === 'headless' ? 'host' : 'interactive'
    presence = joinWindows({ paths, kind, ...(sessionId === undefined ? {} : { sessionId }) })
    audit = auditTrail(paths.loopsDir, (message) => tell({ severity: 'warning', message }))
  }
  const trail = audit
  const host: Host = {
    ...info,
    mode,
    paths,
    projects,
    env,
    files,
    oauth: loadOAuth,
    delivers,
    ...(chat ? { chat } : {}),
    ...(credentials ? { credentials } : {}),
    ...(agents ? { agents } : {}),
    ...(isModelProvider ? { isModelProvider } : {}),
    ...(providerToken ? { providerToken } : {}),
    ...(presence ? { windows: presence } : {}),
    ...(trail ? { audit: (row) => trail.write(row) } : {}),
    ...(delivers
      ? { admit: (trigger) => (tapline ? tapline.pipeline.admit(trigger) : early.push(soundEvent(trigger))) }
      : {}),
    claim: async (request) => await tapline?.kernel.hooks.dedup.promise(request),
    toInbox: async (trigger, note) => {
      const kernel = (await attached.promise)?.kernel
      if (!kernel?.hasSink('inbox')) return false
      const context = { ...note, policy: 'inbox', signal: new AbortController().signal }
      const receipt = await kernel.hooks.deliver.for('inbox').promise(trigger, context)
      return receipt !== undefined && receipt.dropped === undefined && receipt.refused === undefined
    },
    redact: (text) => redact(cleanLines(text)),
    server: (name) => {
      const server = tapline?.server(name)
      if (!server) return undefined
      const { session, spec } = server
      return {
        spec,
        connected: session.status.state === 'connected',
        capabilities: session.status.capabilities,
        instructions: session.status.instructions,
        notify: (method, params) => session.notify(method, params),
        reconnect: () => session.reconnect(),
      }
    },
  }
  return {
    host,
    attach: (running) => {
      tapline = running
      attached.resolve(running)
      for (const trigger of early) tapline.pipeline.admit(trigger)
      early = []
    },
    end: () => presence?.end(),
    hasCompany: () =>
      presence
        ?.list()
        .some(
          (other) =>
            !presence.isSelf(other) &&
            other.kind === 'interactive' &&
            other.leaving !== true &&
            other.cwd === presence.self.cwd,
        ) === true,
    close: async () => {
      attached.resolve(undefined)
      presence?.leave()
      await audit?.flush()
    },
  }
}
