import type { ExtensionAPI, ExtensionContext } from '@earendil-works/pi-coding-agent'
import { declaresChannel, declaresPermission, optsIn } from '@tapline/channels'
import { type HostPaths, messageOf } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import type { Notices } from '../notices.ts'
import type { Toolbox } from '../toolbox.ts'
import { channelConsents } from './consents.ts'
import { relayDialogs } from './dialogs.ts'
import { channelSection, type PromptedChannel } from './instructions.ts'
import { followCalls } from './open-calls.ts'
import { askAboutChannel } from './question.ts'

/** Channels in one pi session: who may speak, what the prompt says of them, and which dialogs they are told of. */
export interface SessionChannels {
  /** Goes on with this Tapline. */
  use(tapline: Tapline): void
  /** Something about a server may have changed. */
  changed(server: Server): void
  /** What the prompt says of channels now. */
  section(): string | undefined
  close(): void
}

/** The channels of a session that has started. */
export function createChannels(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  paths: HostPaths,
  notices: Notices,
  toolbox: Pick<Toolbox, 'toolsOf'>,
): SessionChannels {
  const warn = (message: string): void => notices.say({ severity: 'warning', message })
  const consents = channelConsents(paths, (path, keptAs) =>
    warn(`${path} could not be read and was set aside as ${keptAs}: you are asked about channels again.`),
  )
  let tapline: Tapline | undefined
  let closed = false
  /** Elsewhere nothing that a server sends is taken. */
  const hears = ctx.mode === 'tui' || ctx.mode === 'rpc'
  /** What each server said of its messages when it was last connected. */
  const heard = new Map<string, string | undefined>()
  const asked = new Set<string>()
  let asking: Promise<void> = Promise.resolve()

  const calls = followCalls(pi)
  const stopRelay = relayDialogs(ctx, { calls, channels: () => tapline?.services.channels })

  const section = (): string | undefined => {
    const speaking = (tapline?.servers ?? []).flatMap(({ spec }): readonly PromptedChannel[] => {
      const mayReach = spec.enabled && optsIn(spec) && heard.has(spec.name)
      if (!mayReach || !consents.of(spec)?.speak) return []
      return [{ name: spec.name, instructions: heard.get(spec.name), tools: toolbox.toolsOf(spec.name) }]
    })
    return speaking.length === 0 ? undefined : channelSection(speaking)
  }

  /** One question after the other, each once in a session. */
  const ask = async (server: Server): Promise<void> => {
    const { spec, session } = server
    const offersPermission = declaresPermission(session.status.capabilities)
    const known = consents.of(spec)
    if (known && (!known.speak || !offersPermission || known.permission !== undefined)) return
    const key = `${JSON.stringify(spec.transport)}\n${spec.name}\n${offersPermission}`
    if (closed || asked.has(key)) return
    asked.add(key)
    if (!ctx.hasUI) {
      return warn(
        `server "${spec.name}" is a channel and nobody has let it speak here: what it sends goes to the inbox. Start pi in a terminal to be asked.`,
      )
    }
    // Its tools are named in the question.
    await server.settled()
    const tools = tapline?.catalogue.listingOf(spec.name)?.tools.map(({ name }) => name) ?? []
    const consent = await askAboutChannel(ctx, server, tools, offersPermission)
    if (consent && !closed) await consents.save(spec, consent)
  }

  const changed = (server: Server): void => {
    const { spec, session } = server
    if (closed || !hears || !tapline?.services.channels || !spec.enabled || !optsIn(spec)) return
    const { state, capabilities, instructions } = session.status
    if (state !== 'connected') return
    if (!declaresChannel(capabilities)) {
      heard.delete(spec.name)
      return warn(
        `server "${spec.name}" has ${spec.channel ? 'channel = true' : 'the policy "channel"'}, but does not declare itself a channel ("experimental": { "claude/channel": {} } in its capabilities); nothing that it sends is taken for a message.`,
      )
    }
    heard.set(spec.name, instructions)
    asking = asking
      .then(() => ask(server))
      .catch((thrown: unknown) => {
        if (!closed) warn(`the answer about channel "${spec.name}" could not be kept: ${messageOf(thrown)}`)
      })
  }

  return {
    use: (next) => {
      tapline = next
      heard.clear()
      next.services.channels?.approveBy((server) => {
        const consent = consents.of(server)
        return {
          events: consent?.speak === true,
          permission: consent?.speak === true && consent.permission === true,
        }
      })
      for (const server of next.servers) changed(server)
    },
    changed,
    section,
    close: () => {
      closed = true
      stopRelay()
      calls.close()
    },
  }
}
