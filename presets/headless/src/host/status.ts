import type { Exposure, ToolSpec } from '@tapline/core'
import type { Server } from './server.ts'

/** One server as `tapline list --json` prints it. */
export interface ServerDescription {
  readonly name: string
  readonly source: string
  readonly transport: string
  /** `disabled`, `invalid`, or a session's state. */
  readonly state: string
  readonly protocolVersion?: string
  readonly era?: 'legacy' | 'modern'
  readonly tools: readonly {
    readonly name: string
    readonly serverTool: string
    readonly exposure: Exposure
  }[]
  readonly error?: string
  /** What the person should do. */
  readonly attention?: string
  /** What waits for the person is a sign-in. */
  readonly signIn?: true
}

/** What is known of a server now. */
export function describeServer(server: Server, tools: readonly ToolSpec[]): ServerDescription {
  const { spec, session } = server
  const { state, reason, attention, signIn, protocolVersion, era } = session.status
  const problem = (state === 'connected' ? server.listError : undefined) ?? reason
  return {
    name: spec.name,
    source: spec.source.label,
    transport: spec.transport.type === 'custom' ? spec.transport.name : spec.transport.type,
    state: spec.enabled ? state : 'disabled',
    ...(protocolVersion ? { protocolVersion } : {}),
    ...(era ? { era } : {}),
    tools: tools
      .filter((tool) => tool.server.name === spec.name)
      .map(({ name, serverTool, exposure }) => ({ name, serverTool: serverTool.name, exposure })),
    ...(spec.enabled && problem !== undefined ? { error: problem } : {}),
    ...(spec.enabled && attention !== undefined ? { attention } : {}),
    ...(spec.enabled && signIn ? { signIn } : {}),
  }
}

/** One line for lists in the chat: `hub: connected · 3 tools`. */
export function serverLine(server: Server, tools: number): string {
  const { spec, session } = server
  const { state, reason, attempt, signIn } = session.status
  if (!spec.enabled) return `${spec.name}: disabled`
  switch (state) {
    case 'connected': {
      const known = server.listed || server.listError !== undefined || tools > 0
      return `${spec.name}: connected · ${known ? count(tools, 'tool') : 'listing its tools…'}`
    }
    case 'connecting':
      return `${spec.name}: connecting…${attempt > 1 ? ` (attempt ${attempt})` : ''}`
    case 'reconnecting':
      return `${spec.name}: reconnecting (attempt ${attempt} of ${spec.reconnect.maxAttempts}): ${firstLine(reason)}`
    case 'auth_failed':
      return `${spec.name}: ${signIn ? 'needs sign-in' : 'failed'}: ${firstLine(reason)}`
    default:
      return `${spec.name}: ${state}${reason ? `: ${firstLine(reason)}` : ''}`
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function firstLine(text: string | undefined): string {
  return text?.split('\n', 1)[0] ?? ''
}
