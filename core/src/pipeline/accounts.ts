import type { Kernel } from '../kernel/index.ts'
import type { Drop, RawNotification, Trigger, TriggerEvent, TriggerState } from '../types/index.ts'
import { ServerBook } from './book.ts'
import { type Lane, stepOf } from './lane.ts'
import { dropStep } from './notice.ts'

/** States in which a trigger ends. */
export type FinalState = Exclude<TriggerState, 'received' | 'pending'>

/** The books of all servers, and who is told of every entry. */
export class Accounts {
  readonly #books = new Map<string, ServerBook>()
  readonly #hooks: Kernel['hooks']

  constructor(hooks: Kernel['hooks']) {
    this.#hooks = hooks
  }

  book(server: string): ServerBook {
    let book = this.#books.get(server)
    if (!book) this.#books.set(server, (book = new ServerBook()))
    return book
  }

  /** A trigger that has arrived. */
  begin(book: ServerBook, trigger: Trigger): void {
    book.received++
    book.pending++
    book.lastEventAt = trigger.receivedAt
    book.lastError = undefined
  }

  /** A notification that became no trigger. */
  drop(raw: Omit<RawNotification, 'kind' | 'params'>, { reason, error }: Drop): void {
    const book = this.book(raw.server)
    book.received++
    book.dropped++
    book.lastEventAt = raw.receivedAt
    if (error !== undefined) book.lastError = error
    this.#say(book, dropStep(raw, reason))
  }

  /** A trigger that waits, and for what. */
  wait(lane: Lane, trigger: Trigger, reason: string): void {
    this.#say(lane.book, stepOf(lane, trigger, 'pending', undefined, reason))
  }

  end(lane: Lane, trigger: Trigger, state: FinalState, sink?: string, reason?: string): void {
    const { book } = lane
    book.pending--
    book[state]++
    this.#say(book, stepOf(lane, trigger, state, sink, reason))
  }

  #say(book: ServerBook, said: TriggerEvent): void {
    if (said.state !== 'pending') book.remember(said)
    const { observe } = this.#hooks
    if (observe.taps.length > 0) observe.callAsync(said, ignore)
  }
}

function ignore(): void {}
