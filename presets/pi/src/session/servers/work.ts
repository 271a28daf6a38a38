import { messageOf } from '@tapline/core'
import { wrap } from '../screen/columns.ts'
import { type Color, type Line, line } from '../screen/line.ts'

/** What is being done with a server, or what came of it. */
export interface Note {
  readonly server: string
  readonly tone: 'running' | 'done' | 'failed'
  readonly text: string
}

/** Rows that one note takes. */
const MOST_ROWS = 3
const COLORS = { running: 'muted', done: 'text', failed: 'error' } as const satisfies Record<string, Color>

/** What runs in the background, one thing at a time for each server. */
export class Work {
  readonly #running = new Map<string, Note>()
  readonly #told: (note: Note) => void
  #last: Note | undefined

  /** `told` hears of every note. */
  constructor(told: (note: Note) => void) {
    this.#told = told
  }

  /** What runs, and what has ended last. */
  get notes(): readonly Note[] {
    return [...this.#running.values(), ...(this.#last ? [this.#last] : [])]
  }

  /** Begins something, unless the server is busy: then that is said, and false answered. `work` answers what a person is told. */
  begin(server: string, doing: string, work: () => Promise<string>): boolean {
    const busy = this.#running.get(server)
    if (busy) {
      this.#say({ server, tone: 'failed', text: `Not yet: ${busy.text}` })
      return false
    }
    const note: Note = { server, tone: 'running', text: doing }
    this.#last = undefined
    this.#running.set(server, note)
    this.#told(note)
    void this.#finish(server, work)
    return true
  }

  /** Something went wrong that was no work. */
  fail(text: string): void {
    this.#say({ server: '', tone: 'failed', text })
  }

  /** What has ended has been read. */
  forget(): void {
    this.#last = undefined
  }

  async #finish(server: string, work: () => Promise<string>): Promise<void> {
    let note: Note
    try {
      note = { server, tone: 'done', text: await work() }
    } catch (thrown) {
      note = { server, tone: 'failed', text: messageOf(thrown) }
    }
    this.#running.delete(server)
    this.#say(note)
  }

  #say(note: Note): void {
    this.#last = note
    this.#told(note)
  }
}

/** The notes as lines below a title. */
export function noteLines(notes: readonly Note[], width: number): readonly Line[] {
  return notes.flatMap(({ tone, text }) =>
    wrap(text.replaceAll(/\s+/g, ' '), width - 2, MOST_ROWS).map((part) => line(COLORS[tone], ` ${part}`)),
  )
}
