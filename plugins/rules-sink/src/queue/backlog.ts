import type { QueueFile } from './item.ts'
import type { Queue } from './queue.ts'

/** Changes of the queue that must be made, if not now then later: a full disk must not make a check run twice. */
export interface Backlog {
  /** Makes a change, after those that still wait. Rejects when it cannot be made now; it is then kept. */
  insist(work: (queue: QueueFile) => QueueFile): Promise<void>
  /** Makes what waits. Rejects when it cannot be made. */
  retry(): Promise<void>
}

/** The backlog of one session. */
export function createBacklog(queue: Queue): Backlog {
  const waiting: ((queue: QueueFile) => QueueFile)[] = []
  let last: Promise<void> = Promise.resolve()

  const work = async (): Promise<void> => {
    const [first] = waiting
    if (first === undefined) return
    await queue.change((file) => [first(file), undefined])
    waiting.shift()
    await work()
  }
  /** One after the other, so that none is made twice. */
  const retry = (): Promise<void> => {
    if (waiting.length === 0) return Promise.resolve()
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
  return {
    insist: (change) => {
      waiting.push(change)
      return retry()
    },
    retry,
  }
}
