import type { DeliverContext, Host, Plugin, Trigger } from '@tapline/core'
import { isWaiting } from './entry.ts'
import { textOf, withReason } from './finding-text.ts'
import { type Finding, openInbox } from './inbox.ts'
import { recordOverflow } from './overflow.ts'
import { type InboxService, inboxService } from './service.ts'
import { Surplus } from './surplus.ts'
import { Tallies } from './tallies.ts'
import { Unwritten } from './unwritten.ts'

export type { InboxEntry } from './entry.ts'
export { openInbox } from './inbox.ts'
export type { Finding, Inbox, InboxOptions, Triage } from './inbox.ts'
export type { ChatClaim, InboxService } from './service.ts'
export { findEntry, shortId } from './view.ts'
export type { InboxScope, InboxView } from './view.ts'

/**
 * A sink is given ten seconds, and a lock whose holder was killed is free after ten: by then the finding is held in
 * memory and will be written.
 */
const LONGEST_WAIT_MS = 8_000
/** It may be written all the same: what is handed in again is then there already. */
const NOT_YET = 'the inbox is locked by another process'

/** Keeps what a policy sends there and what no sink took. `onReady` is given what commands work on. */
export const inboxSink = (options: { onReady?(service: InboxService): void } = {}): Plugin => ({
  name: 'inbox-sink',
  api: 1,
  setup({ hooks, host, log }) {
    const { files, paths, projects } = host
    const { loopsDir } = paths
    const inbox = openInbox({ files, loopsDir, projects, audit: (row) => host.audit?.(row) })
    const tallies = new Tallies(inbox)
    const writing = new Set<Promise<unknown>>()
    // The resident host stands in for everybody: what it hears belongs to no project, unless somebody says so.
    const self = host.windows?.self
    const own = self?.kind === 'host' ? '' : paths.cwd
    const findingFor = (trigger: Trigger, { cwd, overflow, reason }: DeliverContext): Finding => {
      const why = reason === undefined || overflow ? undefined : (host.redact?.(reason) ?? reason)
      return {
        ...findingOf(trigger, why, host.redact),
        cwd: cwd ?? trigger.cwd ?? own,
        ...(self?.sessionId === undefined ? {} : { sessionId: self.sessionId }),
      }
    }
    /** Too late for the pipeline to be told, so the audit trail has it. */
    const lose = ({ runId, cwd, source, text }: Finding, thrown: unknown): void => {
      const error = messageOf(thrown)
      log.warn(`a finding of ${source} is not in the inbox: ${error}`)
      host.audit?.({
        type: 'trigger_result',
        traceId: runId,
        cwd,
        state: 'failed',
        sourceLabel: source.replace(/^trigger:/, ''),
        summary: text,
        details: { sink: 'inbox', error },
      })
    }
    const held = (thrown: unknown): void =>
      log.warn(
        `${messageOf(thrown)} What arrives waits in memory until it can be written or the session ends.`,
      )
    const unwritten = new Unwritten({
      onHeld: held,
      onWritten: (count) => log.info(`the inbox can be written again; ${count} that waited are in it.`),
      onLost: lose,
    })
    const surplus = new Surplus({ inbox, tallies, real: projects.real, onHeld: held, onLost: lose })
    hooks.deliver.sink('inbox').tapPromise({}, async (trigger, context) => {
      const { policy, overflow, reason } = context
      const finding = findingFor(trigger, context)
      // What another plugin hands in, a rule's result for example, is no flood: it has a reason, and no policy before.
      const isHandedIn = policy === 'inbox' && reason !== undefined
      if (!overflow && !isHandedIn && surplus.takes(finding)) return { sink: 'inbox' }
      const write = (): Promise<unknown> =>
        overflow ? recordOverflow(tallies, trigger, policy, overflow, finding) : inbox.add(finding)
      // Whoever hands something in keeps it until it is written.
      const written = isHandedIn ? write() : unwritten.keep(finding, write)
      writing.add(written)
      let late = false
      written
        .catch((thrown: unknown) => late && !isHandedIn && lose(finding, thrown))
        .finally(() => writing.delete(written))
        .catch(() => undefined)
      late = !(await within(written, LONGEST_WAIT_MS))
      return late && isHandedIn ? { sink: 'inbox', refused: NOT_YET } : { sink: 'inbox' }
    })
    options.onReady?.(inboxService(inbox, host.chat))
    return async () => {
      await Promise.allSettled(writing)
      await unwritten.end()
      await surplus.end()
    }
  },
})

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

function findingOf(trigger: Trigger, why: string | undefined, redact: Host['redact']): Omit<Finding, 'cwd'> {
  const { source, traceId, receivedAt } = trigger
  const label = sourceLabel(trigger)
  const what = textOf(trigger, redact)
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

function sourceLabel({ source, server }: Trigger): string {
  return source === server ? source : `${source}:${server}`
}

/** Whether `promise` has resolved within `ms`. Rejects as it does. */
function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  return Promise.race([promise.then(() => true), late]).finally(() => clearTimeout(timer))
}
