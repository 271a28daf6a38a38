import { cleanText, type ServerSpec, type SessionStatus } from '@tapline/core'
import type { Server } from '@tapline/headless'
import {
  addressText,
  clock,
  count,
  fileTexts,
  lasting,
  pathText,
  type Places,
  said,
  transportText,
} from '../words.ts'

/** One thing that is known of a connection; several lines where a list is known. */
export interface Fact {
  readonly label: string
  readonly values: readonly string[]
  /** Something is wrong with it. */
  readonly isWrong?: boolean
}

const LONGEST = 4_000
const MOST_LISTED = 20

/** Everything about the connection of a server, without secrets. */
export function connectionFacts({ spec, session }: Server, places: Places): readonly Fact[] {
  const { status } = session
  return [
    ...stateFacts(spec, status),
    ...entryFacts(spec, places),
    ...protocolFacts(status),
    ...pushFacts(spec, status),
  ]
}

function stateFacts(
  spec: ServerSpec,
  { state, reason, attention, attempt, since, pid }: SessionStatus,
): readonly Fact[] {
  const lasted =
    since === undefined
      ? ''
      : `, since ${clock(since)} (${lasting(Math.floor((Date.now() - since) / 1_000))})`
  return [
    { label: 'state', values: [spec.enabled ? `${state.replace('_', ' ')}${lasted}` : 'disabled'] },
    ...(pid === undefined ? [] : [{ label: 'process', values: [`pid ${pid}`] }]),
    ...(spec.enabled && reason !== undefined
      ? [{ label: 'reason', values: cleaned(reason), isWrong: true }]
      : []),
    ...(spec.enabled && attention !== undefined ? [{ label: 'what to do', values: cleaned(attention) }] : []),
    ...(spec.enabled
      ? [{ label: 'attempts', values: [`${attempt} in a row, at most ${spec.reconnect.maxAttempts}`] }]
      : []),
  ]
}

function entryFacts(spec: ServerSpec, places: Places): readonly Fact[] {
  const { transport } = spec
  const named = (values: Readonly<Record<string, string>>): string => Object.keys(values).join(', ')
  return [
    { label: 'transport', values: [transportText(spec, places)] },
    ...(transport.type === 'stdio' && transport.cwd !== undefined
      ? [{ label: 'directory', values: [pathText(transport.cwd, places)] }]
      : []),
    // Names alone: values may be secret.
    ...(transport.type === 'stdio' && Object.keys(transport.env).length > 0
      ? [{ label: 'environment', values: [named(transport.env)] }]
      : []),
    ...(transport.type === 'streamable-http' && Object.keys(transport.headers).length > 0
      ? [{ label: 'headers', values: [named(transport.headers)] }]
      : []),
    ...(transport.type === 'streamable-http' && transport.auth !== undefined
      ? [{ label: 'credential', values: [transport.auth.ref] }]
      : []),
    { label: 'entry', values: fileTexts(spec, places) },
    { label: 'timeout', values: [`${spec.requestTimeoutMs / 1_000} s a request`] },
  ]
}

function protocolFacts({
  era,
  protocolVersion,
  serverInfo,
  capabilities,
  instructions,
}: SessionStatus): readonly Fact[] {
  return [
    ...(protocolVersion === undefined
      ? []
      : [{ label: 'protocol', values: [`${protocolVersion}, the ${era} era`] }]),
    ...(serverInfo === undefined
      ? []
      : [{ label: 'server', values: [said(`${serverInfo.name} ${serverInfo.version}`, 200)] }]),
    ...(capabilities === undefined
      ? []
      : [
          { label: 'capabilities', values: [cleanText(Object.keys(capabilities).join(', ') || 'none', 400)] },
        ]),
    ...(instructions === undefined ? [] : [{ label: 'instructions', values: cleaned(instructions) }]),
  ]
}

function pushFacts(
  { subscribe = [] }: ServerSpec,
  { report, subscriptions }: SessionStatus,
): readonly Fact[] {
  const { pushStream, skippedLines } = report
  const { active = [], refused = [] } = subscriptions ?? {}
  return [
    ...(pushStream === undefined
      ? []
      : [
          {
            label: 'push stream',
            values: [pushStream === 'none' ? 'none: tools work, notifications do not arrive' : pushStream],
            isWrong: pushStream === 'none',
          },
        ]),
    ...(subscribe.length === 0
      ? []
      : [{ label: 'subscribed', values: active.length === 0 ? ['to nothing yet'] : listed(active) }]),
    ...(refused.length === 0
      ? []
      : [
          {
            label: 'refused',
            values: listed(refused.map(({ uri, reason }) => `${uri}: ${reason}`)),
            isWrong: true,
          },
        ]),
    ...(skippedLines === undefined || skippedLines === 0
      ? []
      : [
          {
            label: 'skipped',
            values: [`${count(skippedLines, 'line')} that were no messages`],
            isWrong: true,
          },
        ]),
  ]
}

function listed(texts: readonly string[]): readonly string[] {
  const shown = texts.slice(0, MOST_LISTED).map((text) => cleanText(addressText(text), 300))
  return texts.length > shown.length ? [...shown, `and ${texts.length - shown.length} more`] : shown
}

function cleaned(text: string): readonly string[] {
  return text
    .slice(0, LONGEST)
    .split('\n')
    .map((row) => said(row, LONGEST))
}
