import { cleanText, type PushPolicy, type PushRule, ruleOf, type SubscriptionStatus } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { durationText } from './rules-text.ts'
import type { Toolbox } from './toolbox.ts'

/** Events of each source that are listed, the newest ones. */
const SHOWN_EVENTS = 3
const SHOWN_RESOURCES = 5

const DEDUP_NOTE =
  '  equal pushes within five minutes count once: in each window when they are shown, once per project for rules'

/** One source of events, as it is listed. */
export interface Source {
  readonly connected: boolean
  readonly attention: boolean
  /** The first says where it stands, without its number. */
  readonly lines: readonly string[]
}

/** What `/triggers sources` prints: servers as they are configured, the clock, the checker of rules, and what is wrong. */
export function sourcesText(tapline: Tapline, toolbox: Toolbox): string {
  const sources = sourcesOf(tapline, toolbox)
  const lines = sources.flatMap(({ lines: [first, ...further] }, index) => [
    `  - source #${index + 1}: ${first}`,
    ...further.map((line) => `      ${line}`),
  ])
  const problems = tapline.diagnostics.map(({ message }) => `  ! ${message}`)
  return [`Trigger sources (${sources.length}):`, ...lines, DEDUP_NOTE, ...problems].join('\n')
}

/** Every source in the order in which they are listed. */
export function sourcesOf(tapline: Tapline, toolbox: Toolbox): readonly Source[] {
  const servers = tapline.servers.map((server) => serverSource(server, tapline, toolbox))
  return [...servers, cronSource(tapline), checkerSource(tapline)]
}

/** A plugin may say that something arrived at no point in time. */
export function timeText(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString()
}

function serverSource(server: Server, tapline: Tapline, toolbox: Toolbox): Source {
  const { spec, session } = server
  const { report, subscriptions, ...status } = session.status
  const { state, reason, attention } = spec.enabled ? status : { state: 'disabled' as const }
  const why = reason ? ` (${cleanText(reason, 80)})` : ''
  const tools = toolbox.toolsOf(spec.name)
  const book = bookOf(tapline, spec.name)
  return {
    connected: state === 'connected',
    attention: attention !== undefined,
    lines: [
      `${state}${why} ${book.counts}${attention ? `  ! ${attention}` : ''}`,
      `subscriptions: mcp:${spec.name}${injection(spec.push.default)} (${spec.transport.type}, ${spec.source.scope}) · tools: ${tools.join(', ') || 'none'}`,
      ...resourceLines(subscriptions),
      ...book.lines,
      ...(report.pushStream === 'none'
        ? ['no server-push stream: tools work, notifications do not arrive']
        : []),
      ...book.error,
      ...(report.lastStderr === undefined ? [] : [`stderr: ${cleanText(report.lastStderr, 160)}`]),
    ],
  }
}

/** The resources that a server was asked to tell of, and those that it will not. */
function resourceLines(subscriptions: SubscriptionStatus | undefined): readonly string[] {
  if (!subscriptions) return []
  const { active, refused } = subscriptions
  const shown = active.slice(0, SHOWN_RESOURCES).map((uri) => cleanText(uri, 100))
  const more = active.length > shown.length ? ` and ${active.length - shown.length} more` : ''
  return [
    ...(active.length > 0 ? [`resources: ${shown.join(', ')}${more}`] : []),
    ...refused
      .slice(0, SHOWN_RESOURCES)
      .map(({ uri, reason }) => `! not subscribed to ${cleanText(uri, 100)}: ${cleanText(reason, 160)}`),
  ]
}

function cronSource(tapline: Tapline): Source {
  const status = tapline.services.cron?.status()
  if (!status) return localSource('disabled', 'subscriptions: local crontab: the plugin "cron" is disabled')
  const book = bookOf(tapline, 'cron')
  return {
    connected: status.state === 'connected',
    attention: status.problems.length > 0,
    lines: [
      `${status.state} ${book.counts}`,
      `subscriptions: ${status.label}`,
      ...book.lines,
      ...book.error,
      ...status.problems.map((problem) => `! ${cleanText(problem, 200)}`),
    ],
  }
}

function checkerSource({ services }: Tapline): Source {
  const status = services.rules?.status()
  const what = 'subscriptions: dynamic trigger periodic check'
  if (!status) return localSource('disabled', `${what}: the plugin "rules-sink" is disabled`)
  const { rules, active, checker, pollIntervalSecs, waiting, lastCheckAt, persistenceError } = status
  const state = active ? (checker.self ? 'connected' : 'standby') : 'disabled'
  const last = lastCheckAt === undefined ? 'never' : timeText(lastCheckAt)
  const who = state === 'standby' ? ` · pid ${checker.pid} checks them` : ''
  return {
    connected: state === 'connected',
    attention: persistenceError !== undefined,
    lines: [
      `${state} queued=${waiting} dropped=0 deduped=0 last_event=${last}`,
      `${what}: ${rules.total} rule(s), ${rules.enabled} enabled, every ${durationText(pollIntervalSecs * 1_000)}${who}`,
      ...(persistenceError === undefined ? [] : [`last error: ${cleanText(persistenceError, 160)}`]),
    ],
  }
}

function localSource(state: 'disabled', line: string): Source {
  const counts = `${state} queued=0 dropped=0 deduped=0 last_event=never`
  return { connected: false, attention: false, lines: [counts, line] }
}

/** The books of one source: in short, in full with the newest events, and what went wrong last. */
function bookOf(
  { pipeline }: Tapline,
  name: string,
): { readonly counts: string; readonly lines: readonly string[]; readonly error: readonly string[] } {
  const book = pipeline.book(name)
  const { received, delivered, redirected, deduped, collapsed, dropped, pending, handled } = book.counts
  const lastEvent = book.lastEventAt === undefined ? 'never' : timeText(book.lastEventAt)
  const events = book.recent.slice(-SHOWN_EVENTS).map(({ ts, method, summary, state, sink, reason }) => {
    const end = [
      state,
      sink === undefined ? '' : `to ${sink}`,
      reason === undefined ? '' : `(${cleanText(reason, 160)})`,
    ]
    return `${timeText(ts)} ${summary || method}: ${end.filter(Boolean).join(' ')}`
  })
  return {
    counts: `queued=${pending} dropped=${dropped} deduped=${deduped} last_event=${lastEvent}`,
    lines: [
      `received=${received} = delivered=${delivered} + redirected=${redirected} + deduped=${deduped} + collapsed=${collapsed} + dropped=${dropped} + pending=${pending} · handled=${handled}`,
      ...events,
    ],
    error: book.lastError === undefined ? [] : [`last error: ${cleanText(book.lastError, 160)}`],
  }
}

function injection(written: PushPolicy | PushRule | undefined): string {
  const policy = written === undefined ? undefined : ruleOf(written).policy
  if (policy === 'run') return ' [inject_and_run]'
  if (policy === 'summary') return ' [inject_summary]'
  return policy === undefined ? '' : ` [${policy}]`
}
