import type { AuditRow, Plugin, TriggerEvent } from '@tapline/core'

/** Rows that one server may cause in a minute; what comes beyond them is counted in the next one. */
const MOST_ROWS = 30
const MINUTE_MS = 60_000

type Step = Pick<AuditRow, 'type' | 'state' | 'details'>

/**
 * Writes into the audit trail what became of pushes outside the chat's own record: who was shown what, and why an event
 * went elsewhere or nowhere. What a policy asks for (`ignore`, `log`) and what no rule could match is no row; checks,
 * channels and scheduled jobs write their own.
 */
export const pushTrail = (): Plugin => ({
  name: 'push-trail',
  api: 1,
  setup({ hooks, host }) {
    const { audit } = host
    if (!audit) return
    const servers = new Map<string, { since: number; rows: number; leftOut: number }>()
    hooks.deliver.observe((event) => {
      const step = stepOf(event)
      if (!step) return undefined
      const { server, traceId, method, key, policy, summary } = event
      const now = performance.now()
      let counted = servers.get(server)
      if (!counted) servers.set(server, (counted = { since: now, rows: 0, leftOut: 0 }))
      if (now - counted.since >= MINUTE_MS) Object.assign(counted, { since: now, rows: 0 })
      if (counted.rows >= MOST_ROWS) {
        counted.leftOut++
        return undefined
      }
      counted.rows++
      const leftOut = counted.leftOut > 0 ? { left_out: counted.leftOut } : {}
      counted.leftOut = 0
      audit({
        ...step,
        traceId,
        cwd: host.paths.cwd,
        sourceLabel: host.server?.(server) ? `mcp:${server}` : server,
        eventLabel: method,
        summary,
        details: { idempotency_key: key, policy, ...step.details, ...leftOut },
      })
      return undefined
    })
  },
})

const WANTED_DROPS: ReadonlySet<string | undefined> = new Set(['ignored', 'no rules'])

/** What the trail says of a step, if anything. */
function stepOf({ state, sink, reason }: TriggerEvent): Step | undefined {
  const why = reason === undefined ? {} : { reason }
  switch (state) {
    case 'delivered':
      if (sink !== 'summary' && sink !== 'run') return undefined
      return {
        type: 'trigger_promotion',
        state: 'promoted',
        details: { to: 'chat', delivery: sink === 'summary' ? 'inject_summary' : 'inject_and_run' },
      }
    case 'redirected':
      return { type: 'trigger_promotion', state, details: { to: sink ?? 'inbox', ...why } }
    case 'dropped':
      return WANTED_DROPS.has(reason) ? undefined : { type: 'trigger', state, details: why }
    case 'deduped':
    case 'collapsed':
      return { type: 'trigger', state, details: why }
    default:
      return undefined
  }
}
