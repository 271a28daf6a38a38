import { join } from 'node:path'
import type { Files } from '@tapline/core'
import { damagedIn, EMPTY_QUEUE, isQueueFile, type QueueFile, soundQueue } from './item.ts'

/** The queue that all processes of a machine share. */
export interface Queue {
  readonly path: string
  /** As it is now. Throws when it cannot be read. */
  read(): QueueFile
  /** Changes it under its lock; answers what `work` found out. Left alone when `work` answers what it was given. */
  change<T>(work: (queue: QueueFile) => readonly [QueueFile, T]): Promise<T>
}

/** `<loops dir>/trigger-queue.json`. `onProblem` is told of content that could not be used. */
export function openQueue(
  place: { readonly files: Files; readonly loopsDir: string },
  onProblem: (problem: string) => void,
): Queue {
  const path = join(place.loopsDir, 'trigger-queue.json')
  const file = place.files.json<QueueFile>({
    path,
    empty: () => EMPTY_QUEUE,
    accepts: isQueueFile,
    onSetAside: (_path, keptAs) =>
      onProblem(`${path} could not be used: pushes that waited in it are now in ${keptAs}.`),
  })
  const sound = (content: QueueFile): QueueFile => {
    const damaged = damagedIn(content)
    if (damaged > 0) onProblem(`${path}: ${damaged} damaged entries are left out.`)
    return soundQueue(content)
  }
  return {
    path,
    read: () => sound(file.read()),
    change: async (work) => {
      let found: { readonly result: unknown } | undefined
      await file.update((content) => {
        const queue = sound(content)
        const [next, result] = work(queue)
        found = { result }
        return next === queue ? content : next
      })
      return (found as { readonly result: never }).result
    },
  }
}
