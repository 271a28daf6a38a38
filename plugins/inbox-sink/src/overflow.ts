import { createHash, randomUUID } from 'node:crypto'
import type { Overflow, Trigger } from '@tapline/core'
import type { Finding, Inbox } from './inbox.ts'

/** Periods that are remembered; an older one would begin an entry of its own. */
const MOST_PERIODS = 256

/** What was written of one period. */
interface Tally {
  /** Entries of this period so far: the next begins when the last has been triaged. */
  generation: number
  /** How many the triaged ones stand for. */
  before: number
  /** How many the last one stands for, those before included. */
  count: number
}

/** Writes what exceeded a limit as one line a period, in place while nobody has triaged it. */
export class OverflowTallies {
  readonly #inbox: Inbox
  /** Other processes count for themselves, also when they began at the same moment. */
  readonly #process = randomUUID()
  readonly #tallies = new Map<string, Tally>()

  constructor(inbox: Inbox) {
    this.#inbox = inbox
  }

  async record(trigger: Trigger, policy: string, overflow: Overflow, finding: Finding): Promise<void> {
    const { count, limit, since } = overflow
    const key = JSON.stringify([trigger.server, policy, limit, since])
    const tally = this.#tallies.get(key) ?? { generation: 0, before: 0, count: 0 }
    this.#tallies.set(key, tally)
    if (this.#tallies.size > MOST_PERIODS) this.#tallies.delete(this.#tallies.keys().next().value as string)
    const text = (): string => overflowText(trigger, policy, limit, count - tally.before)
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

function overflowText(trigger: Trigger, policy: string, limit: string, count: number): string {
  const { server, method, summary } = trigger
  const many = `${count.toLocaleString('en-US')} more ${count === 1 ? 'push' : 'pushes'}`
  return `${server}: ${many} of policy "${policy}" than ${limit} allow; the newest: ${summary || method}`
}
