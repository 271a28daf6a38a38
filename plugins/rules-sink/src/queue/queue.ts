import { join } from 'node:path'
import type { Files } from '@tapline/core'
import { reasonOf, type Troubles } from '../troubles.ts'
import { EMPTY_QUEUE, isQueueFile, type QueueFile, soundQueue } from './item.ts'

/** The queue that all processes of a machine share. */
export interface Queue {
  readonly path: string
  /** As it is now. Throws a sentence when it cannot be read. */
  read(): QueueFile
  /**
   * Changes it under its lock; answers what `work` found out. Left alone when `work` answers what it was given. Throws a
   * sentence when it cannot be changed.
   */
  change<T>(work: (queue: QueueFile) => readonly [QueueFile, T]): Promise<T>
}

/** `<loops dir>/trigger-queue.json`. What cannot be used of it is kept under another name. */
export function openQueue(
  place: { readonly files: Files; readonly loopsDir: string },
  troubles: Troubles,
): Queue {
  const path = join(place.loopsDir, 'trigger-queue.json')
  const file = place.files.json<QueueFile>({
    path,
    empty: () => EMPTY_QUEUE,
    accepts: isQueueFile,
    onSetAside: (_path, keptAs) =>
      troubles.happened(`${path} could not be used: pushes that waited in it are now in ${keptAs}.`),
  })
  const unusable = (thrown: unknown): Error =>
    new Error(`${path} cannot be used: ${reasonOf(thrown)}`, { cause: thrown })
  /** Written anew, the file no longer has them. */
  const keep = (damaged: readonly unknown[]): void => {
    if (damaged.length === 0) return
    const keptAs = `${path}.damaged-${Date.now()}`
    place.files.write(keptAs, `${JSON.stringify(damaged, undefined, 2)}\n`)
    troubles.happened(`${path}: ${damaged.length} damaged entries are left out; they are now in ${keptAs}.`)
  }
  return {
    path,
    read: () => {
      try {
        return soundQueue(file.read()).queue
      } catch (thrown) {
        throw unusable(thrown)
      }
    },
    change: async (work) => {
      let found: { readonly result: unknown } | undefined
      try {
        await file.update((content) => {
          const { queue, damaged } = soundQueue(content)
          const [next, result] = work(queue)
          found = { result }
          if (next === queue) return content
          keep(damaged)
          return next
        })
      } catch (thrown) {
        throw unusable(thrown)
      }
      return (found as { readonly result: never }).result
    },
  }
}
