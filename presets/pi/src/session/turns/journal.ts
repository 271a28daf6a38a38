import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type ChatMessage, files, type WindowRecord } from '@tapline/core'
import { eventOf, type JournalLine, journalPaths, readJournal } from './journal-file.ts'

/** A journal with this many lines more than events that wait is written anew. */
const MOST_SPENT = 200
/** One that could not be written is left alone for so long, in milliseconds: whoever waits looks four times a second. */
const PAUSE_MS = 10_000
const NONE: ReadonlySet<string> = new Set()

/** What waits in this window for its turn, on the disk: a window that is killed loses nothing by it. */
export interface TurnJournal {
  /** These wait now, and no others. Best effort: a turn does not depend on it. */
  keep(waiting: readonly ChatMessage[]): void
  /**
   * The trace ids of events that another window has taken over for the inbox since this was last asked: this process
   * stood still for so long that it was given up. They are theirs.
   */
  takenOver(): ReadonlySet<string>
}

/** Keeps nothing: for a window that nobody else would look after. */
export const noJournal: TurnJournal = { keep: () => undefined, takenOver: () => NONE }

/** The journal of one window, `<loops dir>/tapline-turns/<pid>-<instance>.jsonl`; there while something waits. */
export function openJournal(loopsDir: string, self: WindowRecord): TurnJournal {
  return new FileJournal(journalPaths(loopsDir, self), self.cwd)
}

class FileJournal implements TurnJournal {
  readonly #paths: ReturnType<typeof journalPaths>
  readonly #cwd: string
  /** What the file says; undefined where that is not known, because it could not be written. */
  #kept: ReadonlySet<string> | undefined = NONE
  #lines = 0
  #pausedUntil = 0
  /** The size of what another window has taken over, as it was last read: it only ever grows. */
  #takenSize = 0

  constructor(paths: ReturnType<typeof journalPaths>, cwd: string) {
    this.#paths = paths
    this.#cwd = cwd
  }

  keep(waiting: readonly ChatMessage[]): void {
    const idle = this.#kept?.size === 0 && waiting.length === 0
    if (idle || (performance.now() < this.#pausedUntil && waiting.length > 0)) return
    try {
      // Another window, or a person, has moved it away.
      if (this.#kept && this.#kept.size > 0 && !existsSync(this.#paths.journal))
        [this.#kept, this.#lines] = [NONE, 0]
      this.#write(waiting)
    } catch {
      // A full or read-only disk: then a kill loses what waits.
      this.#kept = undefined
      this.#pausedUntil = performance.now() + PAUSE_MS
    }
  }

  takenOver(): ReadonlySet<string> {
    const { taken } = this.#paths
    try {
      const size = statSync(taken, { throwIfNoEntry: false })?.size ?? 0
      if (size === this.#takenSize) return NONE
      const found = readJournal(taken)
      const isOver = found?.waiting.length === 0
      // What the inbox has not taken yet, they bring it.
      if (isOver) rmSync(taken, { force: true })
      this.#takenSize = isOver ? 0 : size
      return found?.ids ?? NONE
    } catch {
      return NONE
    }
  }

  #write(waiting: readonly ChatMessage[]): void {
    const { journal } = this.#paths
    const now = new Map(waiting.map((message) => [eventOf(message).traceId, message]))
    if (now.size === 0) {
      rmSync(journal, { force: true })
      this.#lines = 0
    } else if (this.#kept === undefined || this.#lines > now.size + MOST_SPENT) {
      mkdirSync(dirname(journal), { recursive: true, mode: 0o700 })
      const lines = [...now.values()].map((message) => this.#line(message))
      files.write(journal, `${lines.join('\n')}\n`)
      this.#lines = lines.length
    } else {
      const kept = this.#kept
      const taken = [...kept].filter((id) => !now.has(id))
      const added = [...now].filter(([id]) => !kept.has(id)).map(([, message]) => this.#line(message))
      const lines = taken.length > 0 ? [textOf({ taken }), ...added] : added
      if (lines.length === 0) return
      files.append(journal, lines.join('\n'))
      this.#lines += lines.length
    }
    this.#kept = new Set(now.keys())
  }

  #line(message: ChatMessage): string {
    const waits = eventOf(message)
    return textOf({ waits, cwd: waits.cwd ?? this.#cwd })
  }
}

function textOf(line: JournalLine): string {
  return JSON.stringify(line)
}
