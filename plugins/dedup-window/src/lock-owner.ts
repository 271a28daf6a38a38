import { closeSync, futimesSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from './entry.ts'
import { type Holder, isAlive } from './holder.ts'

/** Says in a lock that is held who has it. Answers how to take that back, which comes before the lock is given back. */
export function signLock(lock: string, holder: Holder): () => void {
  const path = join(lock, 'owner')
  try {
    writeFileSync(path, JSON.stringify({ ...holder, beat: Date.now() }))
  } catch {
    // Full or gone: then nobody is told.
  }
  return () => {
    try {
      rmSync(path, { force: true })
    } catch {
      // The lock grows old by itself.
    }
  }
}

/**
 * Makes a lock stale at once whose holder was killed, where the system tells (Linux): otherwise everybody would wait for
 * ten seconds.
 */
export function releaseDead(lock: string): void {
  let directory: number | undefined
  try {
    directory = openSync(lock, 'r')
    // Through the descriptor: what is looked at is what is marked, also when another process takes the place meanwhile.
    const owner: unknown = JSON.parse(readFileSync(`/proc/self/fd/${directory}/owner`, 'utf8'))
    if (isObject(owner) && !isAlive(owner, Date.now())) futimesSync(directory, 0, 0)
  } catch {
    // Nobody has it, it is another program's, or the system does not tell.
  } finally {
    if (directory !== undefined) closeSync(directory)
  }
}
