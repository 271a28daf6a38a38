/**
 * The names of the channel contract, as Claude Code's public "Channels reference" has them. Servers in the wild are
 * written against it.
 */

/** A server that declares this sends events. */
const CHANNEL = 'claude/channel'
/** A server that declares this too may be asked about tool calls. */
const PERMISSION = 'claude/channel/permission'

/** One event, from the server: `{ content, meta? }`. */
export const EVENT_METHOD = 'notifications/claude/channel'
/** A question about a tool call, to the server: `{ request_id, tool_name, description, input_preview }`. */
export const REQUEST_METHOD = 'notifications/claude/channel/permission_request'
/** The answer to it, from the server: `{ request_id, behavior }`. */
export const VERDICT_METHOD = 'notifications/claude/channel/permission'

/** The sink of approved channels, and the name of its policy. */
export const SINK = 'channel'

type Capabilities = Readonly<Record<string, unknown>> | undefined

/** Whether a server with these capabilities is a channel. */
export function declaresChannel(capabilities: Capabilities): boolean {
  return declares(capabilities, CHANNEL)
}

/** Whether it is one that may be asked about tool calls. */
export function declaresPermission(capabilities: Capabilities): boolean {
  return declaresChannel(capabilities) && declares(capabilities, PERMISSION)
}

function declares(capabilities: Capabilities, name: string): boolean {
  const experimental = capabilities?.experimental
  if (!isRecord(experimental) || !Object.hasOwn(experimental, name)) return false
  const value = experimental[name]
  return value === true || isRecord(value)
}

/** Whether this is an object with fields. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
