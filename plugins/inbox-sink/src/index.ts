import type { DeliverContext, Plugin, Trigger } from '@tapline/core'
import { isWaiting } from './entry.ts'
import { type Finding, LONGEST_TEXT, openInbox } from './inbox.ts'
import { OverflowTallies } from './overflow.ts'
import { realOf } from './project.ts'
import { type InboxService, inboxService } from './service.ts'
import { cut, oneLine, pointsIn } from './text.ts'

export type { InboxEntry } from './entry.ts'
export { openInbox } from './inbox.ts'
export type { Finding, Inbox, InboxOptions, Triage } from './inbox.ts'
export type { ChatClaim, InboxService } from './service.ts'
export { findEntry, historyOf, shortId, viewOf } from './view.ts'
export type { InboxScope, InboxView } from './view.ts'

/**
 * A sink is given ten seconds, and a lock whose holder was killed is free after ten: by then the finding is held in
 * memory and will be written.
 */
const LONGEST_WAIT_MS = 8_000
const BETWEEN = ' · '
/** Code points. */
const LEAST_OF_WHAT_CAME = 200

/** Keeps what a policy sends there and what no sink took. `onReady` is given what commands work on. */
export const inboxSink = (options: { onReady?(service: InboxService): void } = {}): Plugin => ({
  name: 'inbox-sink',
  api: 1,
  setup({ hooks, host, log }) {
    const { files, paths } = host
    const inbox = openInbox({ files, loopsDir: paths.loopsDir, audit: (row) => host.audit?.(row) })
    const tallies = new OverflowTallies(inbox)
    const writing = new Set<Promise<unknown>>()
    // The resident host stands in for everybody: what it hears belongs to no project, unless somebody says so.
    const self = host.windows?.self
    const own = self?.kind === 'host' ? '' : realOf(paths.cwd)
    const cwdOf = (trigger: Trigger, context: DeliverContext): string => {
      const said = context.cwd ?? trigger.cwd
      return said === undefined ? own : realOf(said)
    }

    const write = async (trigger: Trigger, context: DeliverContext): Promise<void> => {
      const { policy, overflow, reason } = context
      const why = reason === undefined || overflow ? undefined : (host.redact?.(reason) ?? reason)
      const finding = {
        ...findingOf(trigger, why),
        cwd: cwdOf(trigger, context),
        ...(self?.sessionId === undefined ? {} : { sessionId: self.sessionId }),
      }
      if (overflow) await tallies.record(trigger, policy, overflow, finding)
      else await inbox.add(finding)
    }
    /** A lock that nobody gives back: too late for the pipeline to be told, so the audit trail has it. */
    const lose = (trigger: Trigger, context: DeliverContext, thrown: unknown): void => {
      const error = thrown instanceof Error ? thrown.message : String(thrown)
      const { traceId, summary, server, method } = trigger
      log.warn(`a finding of ${server} is not in the inbox: ${error}`)
      host.audit?.({
        type: 'trigger_result',
        traceId,
        cwd: cwdOf(trigger, context),
        state: 'failed',
        sourceLabel: sourceLabel(trigger),
        eventLabel: method,
        summary,
        details: { sink: 'inbox', error },
      })
    }
    hooks.deliver.sink('inbox').tapPromise({}, async (trigger, context) => {
      const written = write(trigger, context)
      writing.add(written)
      let late = false
      written
        .catch((thrown: unknown) => late && lose(trigger, context, thrown))
        .finally(() => writing.delete(written))
        .catch(() => undefined)
      await within(written, LONGEST_WAIT_MS)
      late = true
      return { sink: 'inbox' }
    })
    options.onReady?.(inboxService(inbox, host.chat))
    return async () => void (await Promise.allSettled(writing))
  },
})

function findingOf(trigger: Trigger, why: string | undefined): Omit<Finding, 'cwd'> {
  const { source, method, summary, traceId, receivedAt } = trigger
  const label = sourceLabel(trigger)
  const what = summary || method
  // A server of somebody else's does not say what is urgent here.
  const waits = (source !== 'mcp' && isWaiting(what)) || (why !== undefined && isWaiting(why))
  return {
    source: `trigger:${label}`,
    jobId: label,
    runId: traceId,
    at: receivedAt,
    text: why === undefined ? what : withReason(what, why),
    kind: waits ? 'checkpoint' : 'news',
  }
}

/** Both on one line. Where there is no room for both, what came keeps its beginning, and the reason has the rest. */
function withReason(what: string, why: string): string {
  const [came, because] = [oneLine(what, LONGEST_TEXT), oneLine(why, LONGEST_TEXT)]
  const room = LONGEST_TEXT - pointsIn(BETWEEN)
  const first = cut(came, Math.max(LEAST_OF_WHAT_CAME, room - pointsIn(because)))
  return `${first}${BETWEEN}${cut(because, room - pointsIn(first))}`
}

function sourceLabel({ source, server }: Trigger): string {
  return source === server ? source : `${source}:${server}`
}

/** Resolves with `promise`, or after `ms` without it. */
function within(promise: Promise<unknown>, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
