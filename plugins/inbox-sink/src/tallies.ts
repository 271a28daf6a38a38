import { createHash, randomUUID } from 'node:crypto'
import type { Finding, Inbox } from './inbox.ts'

/** Counts that are remembered; an older one would begin an entry of its own. */
const MOST_COUNTS = 256

/** What was written of one count. */
interface Tally {
  /** Entries of this count so far: the next begins when the last has been triaged. */
  generation: number
  /** How many the triaged ones stand for. */
  before: number
  /** How many the last one stands for, those before included. */
  count: number
}

/** Writes a count as one line of the inbox, in place while nobody has triaged it. */
export class Tallies {
  readonly #inbox: Inbox
  /** Other processes count for themselves, also when they began at the same moment. */
  readonly #process = randomUUID()
  readonly #tallies = new Map<string, Tally>()

  constructor(inbox: Inbox) {
    this.#inbox = inbox
  }

  /** `count` is of all since `key` began; `textOf` says what so many of them are. */
  async record(
    key: string,
    count: number,
    textOf: (count: number) => string,
    finding: Finding,
  ): Promise<void> {
    const tally = this.#tallies.get(key) ?? { generation: 0, before: 0, count: 0 }
    this.#tallies.set(key, tally)
    if (this.#tallies.size > MOST_COUNTS) this.#tallies.delete(this.#tallies.keys().next().value as string)
    const text = (): string => textOf(count - tally.before)
    const id = (): string => this.#idOf(key, tally.generation)
    if (tally.count > 0) {
      if (await this.#inbox.revise(id(), text())) {
        tally.count = count
        return
      }
      tally.generation++
      tally.before = tally.count
    }
    await this.#inbox.add({ ...finding, id: id(), text: text() })
    tally.count = count
  }

  #idOf(key: string, generation: number): string {
    const hash = createHash('sha256').update(`${this.#process}\n${key}\n${generation}`)
    return `inb-${hash.digest('hex').slice(0, 32)}`
  }
}
