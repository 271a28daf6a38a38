import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { AuditRow, Files, Projects } from '@tapline/core'
import type { InboxEntry } from './entry.ts'
import { InboxFile, inaccessible } from './inbox-file.ts'
import { localTime, oneLine } from './text.ts'
import { type InboxScope, type InboxView, ofProject, viewOf } from './view.ts'

/** Code points of a finding's text and of its source. */
export const LONGEST_TEXT = 500
export const LONGEST_SOURCE = 80
const LONGEST_REASON = 500
/** A clock that was set back may have stamped what is not yet: such a time is not believed. */
const FUTURE_MS = 60_000
const LATEST_MS = 8e15

/** What {@link openInbox} takes. */
export interface InboxOptions {
  readonly files: Files
  /** Absolute: where `inbox.jsonl` and `inbox.lock` are. */
  readonly loopsDir: string
  /** Tells which findings are a project's. */
  readonly projects: Projects
  /** Told of what is claimed and dismissed. */
  audit?(row: AuditRow): void
}

/** What is put into the inbox. Texts are put on one line and cut. */
export interface Finding {
  readonly source: string
  /** An entry with this run id that is there already is not added again. */
  readonly runId: string
  /** A directory of the project it belongs to; empty when it belongs to none. */
  readonly cwd: string
  readonly text: string
  readonly kind?: InboxEntry['kind']
  /** Milliseconds since the epoch; now when absent or not possible. */
  readonly at?: number
  readonly jobId?: string
  readonly sessionId?: string
  /** Random when absent. */
  readonly id?: string
}

/** What became of a claim or a dismissal. `entry` is absent when there is none of that id. */
export type Triage =
  | { readonly done: true; readonly entry: InboxEntry }
  | { readonly done: false; readonly entry?: InboxEntry }

/** The inbox of this machine, shared with other processes and with pi-loops. */
export interface Inbox {
  readonly path: string
  /** Every entry that can be read, oldest first. Throws a sentence when the file cannot be read. */
  entries(): readonly InboxEntry[]
  /** What is new in a project, or in every one. Throws as `entries` does. */
  view(scope: InboxScope): InboxView
  /** The same of whatever status, oldest first. */
  history(scope: InboxScope): readonly InboxEntry[]
  /** Answers false when it was there already. */
  add(finding: Finding): Promise<boolean>
  /** Replaces the text of an entry that is still new; answers false when there is none. */
  revise(id: string, text: string): Promise<boolean>
  /** Marks a new entry. Of several who claim it, in whatever process, one does. */
  claim(id: string, by?: string): Promise<Triage>
  dismiss(id: string, reason?: string): Promise<Triage>
  /** Dismisses those of these ids that are new, at once; answers them. */
  dismissAll(ids: readonly string[]): Promise<readonly InboxEntry[]>
}

/** Opens `<loops dir>/inbox.jsonl`, which need not be there. */
export function openInbox(options: InboxOptions): Inbox {
  return new SharedInbox(options)
}

class SharedInbox implements Inbox {
  readonly #options: InboxOptions
  readonly #file: InboxFile
  readonly #lock: string
  /** One after the other: within a process nobody need wait for a lock. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: InboxOptions) {
    this.#options = options
    this.#file = new InboxFile(join(options.loopsDir, 'inbox.jsonl'), options.files)
    this.#lock = join(options.loopsDir, 'inbox.lock')
  }

  get path(): string {
    return this.#file.path
  }

  entries(): readonly InboxEntry[] {
    return this.#file.read().entries
  }

  view(scope: InboxScope): InboxView {
    return viewOf(this.entries(), scope, this.#options.projects)
  }

  history(scope: InboxScope): readonly InboxEntry[] {
    return ofProject(this.entries(), scope, this.#options.projects)
  }

  add(finding: Finding): Promise<boolean> {
    const cwd = finding.cwd === '' ? '' : this.#options.projects.real(finding.cwd)
    return this.#locked(() => {
      if (finding.runId !== '' && this.#file.hasRun(finding.runId)) return false
      this.#file.append(entryOf({ ...finding, cwd }))
      return true
    })
  }

  revise(id: string, text: string): Promise<boolean> {
    return this.#locked(() => {
      if (!this.#isNew(id)) return false
      const next = oneLine(text, LONGEST_TEXT)
      this.#file.change((entry) => (entry.id === id && isNew(entry) ? { ...entry, text: next } : entry))
      return true
    })
  }

  async claim(id: string, by?: string): Promise<Triage> {
    const claimed_by = by ?? null
    return this.#triage(id, (entry) => ({ ...entry, status: 'claimed', claimed_by }))
  }

  async dismiss(id: string, reason?: string): Promise<Triage> {
    return this.#triage(id, dismissal(reason))
  }

  async dismissAll(ids: readonly string[]): Promise<readonly InboxEntry[]> {
    const wanted = new Set(ids)
    const dismissed = await this.#locked(() => this.#mark((entry) => wanted.has(entry.id), dismissal()))
    for (const entry of dismissed) this.#audit(entry)
    return dismissed
  }

  async #triage(id: string, mark: (entry: InboxEntry) => InboxEntry): Promise<Triage> {
    const triage = await this.#locked((): Triage => {
      const [marked] = this.#mark((entry) => entry.id === id, mark)
      if (marked !== undefined) return { done: true, entry: marked }
      const entry = this.entries().find((candidate) => candidate.id === id)
      return { done: false, ...(entry ? { entry } : {}) }
    })
    if (triage.done) this.#audit(triage.entry)
    return triage
  }

  /** Marks the new entries among those that are meant, in one write; answers them as they are now. */
  #mark(isMeant: (entry: InboxEntry) => boolean, mark: (entry: InboxEntry) => InboxEntry): InboxEntry[] {
    const meant = (entry: InboxEntry): boolean => isNew(entry) && isMeant(entry)
    if (!this.entries().some(meant)) return []
    const marked: InboxEntry[] = []
    this.#file.change((entry) => {
      if (!meant(entry)) return entry
      const next = mark(entry)
      marked.push(next)
      return next
    })
    return marked
  }

  #isNew(id: string): boolean {
    return this.entries().some((entry) => entry.id === id && isNew(entry))
  }

  #locked<T>(work: () => T): Promise<T> {
    const result = this.#turn.then(async () => {
      try {
        return await this.#options.files.locked(this.path, work, this.#lock)
      } catch (thrown) {
        throw inaccessible(this.path, 'written', thrown)
      }
    })
    this.#turn = result.catch(() => undefined)
    return result
  }

  #audit(entry: InboxEntry): void {
    const { id, status, source, run_id, cwd, text, claimed_by, dismiss_reason } = entry
    this.#options.audit?.({
      type: 'inbox',
      traceId: run_id,
      cwd,
      state: status,
      sourceLabel: source,
      summary: text,
      details: {
        id,
        ...(claimed_by === null ? {} : { claimed_by }),
        ...(dismiss_reason === null ? {} : { dismiss_reason }),
      },
    })
  }
}

function isNew({ status }: InboxEntry): boolean {
  return status === 'new'
}

function dismissal(reason?: string): (entry: InboxEntry) => InboxEntry {
  const dismiss_reason = reason === undefined ? null : oneLine(reason, LONGEST_REASON) || null
  return (entry) => ({
    ...entry,
    status: 'dismissed',
    dismiss_reason,
    dismissed_at: localTime(Date.now()),
  })
}

function entryOf(finding: Finding): InboxEntry {
  const { source, runId, cwd, text, kind, at, jobId, sessionId, id } = finding
  return {
    id: id ?? `inb-${randomBytes(16).toString('hex')}`,
    created_at: localTime(at !== undefined && isPast(at) ? at : Date.now()),
    status: 'new',
    kind: kind ?? 'news',
    source: oneLine(source, LONGEST_SOURCE),
    run_id: runId,
    cwd,
    text: oneLine(text, LONGEST_TEXT),
    verified: null,
    dismiss_reason: null,
    job_id: jobId ?? null,
    session_id: sessionId ?? null,
    claimed_by: null,
    verified_reason: null,
    dismissed_at: null,
  }
}

function isPast(ms: number): boolean {
  return Number.isFinite(ms) && ms > -LATEST_MS && ms < Date.now() + FUTURE_MS
}
