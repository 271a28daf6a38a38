import type { Notice, Plugin, RawNotification, ServerSpec } from '@tapline/core'
import { declaresChannel, declaresPermission, EVENT_METHOD, SINK, VERDICT_METHOD } from './contract.ts'
import { mapEvent } from './event.ts'
import { readNumbers } from './options.ts'
import { optsIn } from './policies.ts'
import { createRelay, type PendingPermission, type PermissionRequest } from './relay.ts'
import { limitSenders } from './senders.ts'
import { channelSink } from './sink.ts'

/** What a person lets a server do. */
export interface Approval {
  /** What it sends goes into the conversation and starts turns. */
  readonly events: boolean
  /** It may answer when a tool call waits for approval. */
  readonly permission: boolean
}

/** What the plugin offers to the program around it. */
export interface Channels {
  /** Says who decides what a server may do. Until then no server may do anything. */
  approveBy(decide: (server: ServerSpec) => Approval): void
  /** The names of the servers that would be asked about a tool call now. */
  relays(): readonly string[]
  /** Asks them; undefined when there are none. */
  ask(request: PermissionRequest): PendingPermission | undefined
}

/** Options of the plugin. */
export interface ChannelsOptions {
  /** Takes secrets out of a text. Without it, summaries say nothing of an event's content and no arguments are relayed. */
  redact?(text: string): string
  /** Given the plugin's face when it is set up. */
  onReady?(channels: Channels): void
}

const NOTHING: Approval = { events: false, permission: false }
const MINUTE_MS = 60_000

/**
 * The channel contract: events of servers that declare themselves channels become triggers with content, the sink
 * `channel` hands those of approved servers to the conversation, and tool calls that wait for approval are relayed to them.
 */
export const channels = ({ redact, onReady }: ChannelsOptions = {}): Plugin => ({
  name: 'channels',
  api: 1,
  setup({ hooks, host, log }, options) {
    const numbers = readNumbers(options, log)
    let names: readonly string[] = []
    let decide: (server: ServerSpec) => Approval = () => NOTHING
    /** Only what the configuration lets be a channel is asked about at all. */
    const approvalOf = (server: ServerSpec): Approval =>
      server.enabled && optsIn(server) ? decide(server) : NOTHING
    const relays = (): readonly string[] =>
      names.filter((name) => {
        const view = host.server?.(name)
        if (!view?.connected || !declaresPermission(view.capabilities)) return false
        return approvalOf(view.spec).permission
      })
    const relay = createRelay({
      host,
      log,
      limitMs: numbers.permissionMinutes * MINUTE_MS,
      redact: redact ?? (() => ''),
      servers: relays,
    })
    const map = (raw: RawNotification): Notice | undefined => {
      const view = host.server?.(raw.server)
      if (!view) return undefined
      const { capabilities } = view
      if (raw.method === VERDICT_METHOD)
        return declaresPermission(capabilities) ? relay.answer(raw) : undefined
      // A server may speak before it is known what it declares: the sink waits for that.
      if (capabilities !== undefined && !declaresChannel(capabilities)) return undefined
      return mapEvent(raw, view, redact)
    }

    hooks.config.tap({ stage: 'host' }, ({ servers }) => {
      names = servers.map(({ name }) => name)
      return undefined
    })
    hooks.notify.tap({}, (notice) =>
      notice.kind === 'raw' && (notice.method === EVENT_METHOD || notice.method === VERDICT_METHOD)
        ? map(notice)
        : undefined,
    )
    const senders = limitSenders(numbers.senderLimit, numbers.senderMinutes * MINUTE_MS)
    const maySpeak = (server: ServerSpec): boolean => approvalOf(server).events
    hooks.deliver.sink(SINK).tapPromise({}, channelSink({ host, senders, maySpeak }))
    onReady?.({
      approveBy: (decider) => (decide = decider),
      relays,
      ask: (request) => relay.ask(request),
    })
    return () => relay.close()
  },
})

export { declaresChannel, declaresPermission, EVENT_METHOD } from './contract.ts'
export { frameChannel } from './framing.ts'
export { optsIn } from './policies.ts'
export type { PendingPermission, PermissionRequest, Verdict } from './relay.ts'
