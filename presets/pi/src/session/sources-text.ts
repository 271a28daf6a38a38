import { cleanText } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import type { Toolbox } from './toolbox.ts'

/** Events of each server that are listed, the newest ones. */
const SHOWN_EVENTS = 3

/** What `/triggers sources` prints: each server with its state, its books, its subscriptions and tools. */
export function sourcesText(tapline: Tapline, toolbox: Toolbox): string {
  const lines = tapline.servers.flatMap((server, index) => sourceLines(server, index + 1, tapline, toolbox))
  const problems = tapline.diagnostics.map(({ message }) => `  ! ${message}`)
  return [`Trigger sources (${tapline.servers.length}):`, ...lines, ...problems].join('\n')
}

function sourceLines(server: Server, number: number, tapline: Tapline, toolbox: Toolbox): string[] {
  const { spec, session } = server
  const { state, reason, attention, report } = session.status
  const book = tapline.pipeline.book(spec.name)
  const { received, delivered, redirected, deduped, collapsed, dropped, pending, handled } = book.counts
  const lastEvent = book.lastEventAt === undefined ? 'never' : timeText(book.lastEventAt)
  const shownState = spec.enabled ? state : 'disabled'
  const why = reason && state !== 'connected' ? ` (${cleanText(reason, 80)})` : ''
  const tools = toolbox.toolsOf(spec.name)
  const lines = [
    `  - source #${number}: ${shownState}${why} queued=${pending} dropped=${dropped} deduped=${deduped} last_event=${lastEvent}${attention ? `  ! ${attention}` : ''}`,
    `      subscriptions: mcp:${spec.name}${injection(spec.push.default)} (${spec.transport.type}, ${spec.source.scope}) · tools: ${tools.join(', ') || 'none'}`,
    `      received=${received} = delivered=${delivered} + redirected=${redirected} + deduped=${deduped} + collapsed=${collapsed} + dropped=${dropped} + pending=${pending} · handled=${handled}`,
  ]
  for (const { ts, method, summary, state, sink, reason } of book.recent.slice(-SHOWN_EVENTS)) {
    const end = [state, sink === undefined ? '' : `to ${sink}`, reason === undefined ? '' : `(${reason})`]
    lines.push(`      ${timeText(ts)} ${summary || method}: ${end.filter(Boolean).join(' ')}`)
  }
  if (report.pushStream === 'none')
    lines.push('      no server-push stream: tools work, notifications do not arrive')
  if (book.lastError !== undefined) lines.push(`      last error: ${cleanText(book.lastError, 160)}`)
  if (report.lastStderr !== undefined) lines.push(`      stderr: ${cleanText(report.lastStderr, 160)}`)
  return lines
}

function injection(policy: string | undefined): string {
  if (policy === 'run') return ' [inject_and_run]'
  if (policy === 'summary') return ' [inject_summary]'
  return policy === undefined ? '' : ` [${policy}]`
}

/** A plugin may say that something arrived at no point in time. */
function timeText(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString()
}
