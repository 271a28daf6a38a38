import { randomUUID } from 'node:crypto'
import type { InboxEntry } from './entry.ts'
import { type Finding, type Inbox, LONGEST_SOURCE } from './inbox.ts'
import type { Tallies } from './tallies.ts'
import { oneLine } from './text.ts'

/** So many new findings of one source are kept for one project: nobody goes through more. */
const MOST_OF_ONE_SOURCE = 500
const WRITE_EVERY_MS = 1_000

/** What {@link Surplus} takes. */
export interface SurplusOptions {
  readonly inbox: Inbox
  readonly tallies: Tallies
  /** The directory as entries of the inbox have it. */
  real(cwd: string): string
  /** Told once of each count that cannot be written; it is tried again. */
  onHeld(error: unknown): void
  /** Told of each that could not be written to the end. */
  onLost(newest: Finding, error: unknown): void
}

/** What came beyond, since somebody last made room. */
interface Count {
  readonly key: string
  count: number
  written: number
  newest: Finding
  /** One write after the other. */
  writing: Promise<void>
  /** From the beginning of a write until the next may begin. */
  isResting: boolean
  error: unknown
}

/**
 * Bounds what a source that runs wild leaves in the inbox: beyond so many new findings it is one line that says how
 * many. What needs a decision is always kept.
 */
export class Surplus {
  readonly #options: SurplusOptions
  readonly #counts = new Map<string, Count>()
  readonly #unwritten = new Set<Count>()
  /** How many are new of each source and project, and the entries that they were counted in. */
  #known: { readonly of: readonly InboxEntry[]; readonly numbers: ReadonlyMap<string, number> } | undefined

  constructor(options: SurplusOptions) {
    this.#options = options
  }

  /** Counts a finding where there are too many of its source. Answers whether it did; else it is to be kept. */
  takes(finding: Finding): boolean {
    const { source, cwd, kind } = finding
    if (kind === 'checkpoint') return false
    const name = nameOf(oneLine(source, LONGEST_SOURCE), cwd === '' ? '' : this.#options.real(cwd))
    if (this.#newOf(name) < MOST_OF_ONE_SOURCE) {
      this.#counts.delete(name)
      return false
    }
    const count = this.#counts.get(name) ?? newCount(finding)
    count.count++
    count.newest = finding
    this.#counts.set(name, count)
    this.#unwritten.add(count)
    if (!count.isResting) this.#writeAndRest(count)
    return true
  }

  /** Writes what is not written yet; what cannot be written now is lost. */
  async end(): Promise<void> {
    await Promise.all([...this.#unwritten].map((count) => this.#write(count)))
    for (const { newest, error } of this.#unwritten) this.#options.onLost(newest, error)
  }

  #writeAndRest(count: Count): void {
    count.isResting = true
    const rested = (): void => {
      count.isResting = false
      if (count.written < count.count) this.#writeAndRest(count)
    }
    void this.#write(count).then(() => setTimeout(rested, WRITE_EVERY_MS).unref())
  }

  #write(count: Count): Promise<void> {
    count.writing = count.writing.then(() => this.#record(count))
    return count.writing
  }

  async #record(count: Count): Promise<void> {
    const { key, count: all, newest } = count
    const name = newest.source.replace(/^trigger:(?:mcp:)?/, '')
    const textOf = (many: number): string =>
      `${name}: ${many.toLocaleString('en-US')} more than the ${MOST_OF_ONE_SOURCE} new findings that are kept of one source; the newest: ${newest.text}`
    try {
      await this.#options.tallies.record(key, all, textOf, newest)
      count.written = all
      count.error = undefined
      if (count.count === all) this.#unwritten.delete(count)
    } catch (thrown) {
      if (count.error === undefined) this.#options.onHeld(thrown)
      count.error = thrown
    }
  }

  #newOf(name: string): number {
    try {
      const of = this.#options.inbox.entries()
      if (this.#known?.of !== of) this.#known = { of, numbers: countNew(of) }
      return this.#known.numbers.get(name) ?? 0
    } catch {
      // Whoever adds to it says so.
      return 0
    }
  }
}

function newCount(newest: Finding): Count {
  return {
    key: randomUUID(),
    count: 0,
    written: 0,
    newest,
    writing: Promise.resolve(),
    isResting: false,
    error: undefined,
  }
}

function countNew(entries: readonly InboxEntry[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  for (const { status, source, cwd } of entries) {
    if (status !== 'new') continue
    const name = nameOf(source, cwd)
    numbers.set(name, (numbers.get(name) ?? 0) + 1)
  }
  return numbers
}

function nameOf(source: string, cwd: string): string {
  return `${source}\n${cwd}`
}
