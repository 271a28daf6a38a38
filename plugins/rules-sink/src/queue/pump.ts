import type { Departures } from '../checks/departures.ts'
import type { Runs } from '../checks/runs.ts'
import type { Ground } from '../ground.ts'
import { reasonOf } from '../troubles.ts'

/** Takes out of the queue what this session is to check. */
export interface Pump {
  /** Looks at the queue soon. */
  poke(): void
  /** Begins nothing any more. */
  close(): Promise<void>
}

const CHECKING = 'checking what waits'

/** A pump of this session. */
export function createPump(ground: Ground, runs: Runs, departures: Departures): Pump {
  const deferred = new Set<string>()
  let wanted = false
  let working: Promise<void> | undefined
  let closed = false

  const work = async (): Promise<void> => {
    wanted = false
    try {
      await ground.backlog.retry()
      await departures.bring()
      if (ground.agents !== undefined && ground.queue.read().items.length > 0) {
        // In most sessions nothing ever waits.
        const { turn } = await import('./turn.ts')
        await turn(ground, runs, departures, deferred, poke)
      }
      ground.troubles.works(CHECKING)
    } catch (thrown) {
      ground.troubles.fails(CHECKING, `pushes are not checked against rules: ${reasonOf(thrown)}`)
    }
  }
  const poke = (): void => {
    wanted = true
    if (closed || working !== undefined) return
    working = Promise.resolve()
      .then(work)
      .finally(() => {
        working = undefined
        if (wanted) poke()
      })
  }
  return {
    poke,
    close: async () => {
      closed = true
      await working
    },
  }
}
