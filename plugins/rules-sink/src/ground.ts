import { join } from 'node:path'
import type { Agents, Host, Log, Projects, WindowRecord } from '@tapline/core'
import { auditor, type Auditor } from './audit.ts'
import { openSpending, type Spending } from './budget/spending.ts'
import { type Redact, withoutControls } from './checks/wording.ts'
import type { Settings } from './options.ts'
import { openPolls, type PollLedger } from './polling/ledger.ts'
import type { Owner } from './queue/item.ts'
import { selfOwner } from './queue/owners.ts'
import { type Backlog, createBacklog } from './queue/backlog.ts'
import { openQueue, type Queue } from './queue/queue.ts'
import { type CheckedRules, openCheckedRules } from './store/store.ts'
import { createTroubles, type Troubles } from './troubles.ts'
import type { Rule } from './types.ts'

/** How often and how long, in milliseconds. */
export interface Timing {
  /** Between two looks at which rules are due for a periodic check. */
  readonly tickMs: number
  /** Between two looks at the queue, should the file system not tell of changes. */
  readonly watchMs: number
  /** Before a failed check of a push is made once more. */
  readonly retryMs: number
  /** How long a project's directory may be missing before its rules are disabled. */
  readonly graceMs: number
  /** How long a sub-agent may take to end beyond its time, or once it is told to. */
  readonly endMs: number
}

/** What every part of the engine stands on. */
export interface Ground {
  readonly host: Host
  readonly agents: Agents | undefined
  readonly settings: Settings
  readonly timing: Timing
  readonly store: CheckedRules
  readonly queue: Queue
  readonly backlog: Backlog
  readonly spending: Spending
  readonly polls: PollLedger
  readonly audit: Auditor
  readonly redact: Redact
  /** Real path of this session's project. */
  readonly cwd: string
  readonly projects: Projects
  /** This session's mark; of something that is done by then. */
  self(until?: number): Owner
  /** Whether it is this session that checks the rule. */
  owns(rule: Pick<Rule, 'cwd' | 'createdBy'>): boolean
  /** Who checks it; nothing where nobody is told of others. */
  ownerOf(rule: Pick<Rule, 'cwd' | 'createdBy'>): WindowRecord | undefined
  readonly troubles: Troubles
  /** Something that people look at may have changed. */
  changed(): void
  onChange(listener: () => void): () => void
}

/** Opens the files that all sessions share. */
export function openGround(
  host: Host,
  { settings, timing, log }: { readonly settings: Settings; readonly timing: Timing; readonly log: Log },
): Ground {
  const { files, windows, paths, projects } = host
  const place = { files, loopsDir: paths.loopsDir, projects }
  const listeners = new Set<() => void>()
  const troubles = createTroubles((text) => log.warn(text))
  const queue = openQueue(place, troubles)
  const ownerOf: Ground['ownerOf'] = (rule) => windows?.ownerOf(rule.cwd, rule.createdBy.sessionId)
  return {
    host,
    agents: host.delivers ? host.agents : undefined,
    settings,
    timing,
    store: openCheckedRules({
      ...place,
      onSetAside: (path, keptAs) =>
        troubles.happened(`${path} could not be used; what stood there is now in ${keptAs}.`),
      onWrite: (failure) =>
        failure === undefined ? troubles.works('rules') : troubles.fails('rules', failure),
    }),
    queue,
    backlog: createBacklog(queue),
    spending: openSpending(place, settings.dailyBudgetUsd, troubles),
    polls: openPolls(place, troubles),
    audit: auditor(host),
    redact: host.redact ? (text) => host.redact?.(text) ?? '' : withoutControls,
    cwd: projects.real(paths.cwd),
    projects,
    self: (until = Date.now()) => selfOwner(windows, until),
    owns: (rule) => {
      const owner = ownerOf(rule)
      return owner === undefined || windows?.isSelf(owner) === true
    },
    ownerOf,
    troubles,
    changed: () => {
      for (const listener of listeners) {
        try {
          listener()
        } catch {
          // Whoever listens has its own troubles.
        }
      }
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Where the audit trail is. */
export function auditPathOf(loopsDir: string): string {
  return join(loopsDir, 'triggers-audit.jsonl')
}
