import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import lockfile from 'proper-lockfile'

/** A lock that nobody has refreshed for this long was left by a dead process. */
const STALE_MS = 10_000
/** Longer than {@link STALE_MS}: whoever waits sees a lock grow stale. */
const LONGEST_WAIT_MS = 25_000
/** The library removes what it takes for stale, and of several that do so one removes the next one's lock: never. */
const NEVER_MS = 365 * 24 * 60 * 60_000
const HELD: ReadonlySet<string | undefined> = new Set(['ELOCKED', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'])

/**
 * Runs `work` while no other process has the lock of this file; a holder that was killed is waited for ten seconds, or
 * for `staleMs`. The lock is a directory, `<path>.lock` or `lock`: pi-loops and pi lock the same way.
 */
export async function withLock<T>(
  path: string,
  work: () => T | Promise<T>,
  lock = `${path}.lock`,
  staleMs = STALE_MS,
): Promise<T> {
  mkdirSync(dirname(lock), { recursive: true, mode: 0o700 })
  const release = await acquire(path, lock, staleMs)
  const own = identityOf(lock)
  try {
    return await work()
  } finally {
    // One that was taken from us, because this process slept too long, is somebody else's by now.
    if (identityOf(lock) === own) await release().catch(() => undefined)
  }
}

async function acquire(path: string, lock: string, staleMs: number): Promise<() => Promise<void>> {
  const deadline = performance.now() + LONGEST_WAIT_MS
  const abandoned = watch(lock, staleMs)
  for (;;) {
    const left = abandoned()
    if (left !== undefined) setAside(lock, left)
    try {
      return await lockfile.lock(path, {
        lockfilePath: lock,
        realpath: false,
        stale: NEVER_MS,
        update: staleMs / 2,
        retries: { retries: 8, minTimeout: 10, maxTimeout: 100, factor: 1.5, randomize: true },
        // Thrown from a timer by default, which would end the process around us.
        onCompromised: () => undefined,
      })
    } catch (thrown) {
      if (!HELD.has((thrown as NodeJS.ErrnoException).code)) throw thrown
      if (performance.now() > deadline) throw heldError(lock)
    }
  }
}

function heldError(lock: string): Error {
  return new Error(
    `${lock} has been held by another process for too long. If no pi and no tapline runs, remove it.`,
  )
}

/**
 * Answers the time of a lock that a dead process has left: nobody has refreshed it for too long, or, where it is from
 * the future, for as long as it was watched.
 */
function watch(lock: string, staleMs: number): () => number | undefined {
  let seen = Number.NaN
  let since = 0
  return () => {
    const time = timeOf(lock)
    if (time === undefined) return undefined
    if (Date.now() - time > staleMs) return time
    if (time !== seen) [seen, since] = [time, performance.now()]
    return performance.now() - since > staleMs ? time : undefined
  }
}

function timeOf(lock: string): number | undefined {
  return lstatSync(lock, { throwIfNoEntry: false })?.mtimeMs
}

/** Tells a lock from another one that took its place. */
function identityOf(lock: string): string {
  const { ino, birthtimeNs } = lstatSync(lock, { bigint: true, throwIfNoEntry: false }) ?? {}
  return `${ino}/${birthtimeNs}`
}

/**
 * Removes a lock that was left. Of several processes that find it, one at a time looks again and does so: the lock that
 * another one takes right afterwards is not theirs to remove.
 */
function setAside(lock: string, time: number): void {
  const turn = `${lock}.removal`
  try {
    mkdirSync(turn)
  } catch {
    // Another process is at it. One that was killed in the middle of it must not be waited for.
    if (Date.now() - (timeOf(turn) ?? Date.now()) > STALE_MS) rmSync(turn, { recursive: true, force: true })
    return
  }
  try {
    if (timeOf(lock) !== time) return
    // Other programs put a file into the directory, and what stands there may be no directory at all.
    const aside = `${lock}.${process.pid}.${randomUUID().slice(0, 8)}`
    renameSync(lock, aside)
    rmSync(aside, { recursive: true, force: true })
  } catch {
    // Another program was quicker.
  } finally {
    rmSync(turn, { recursive: true, force: true })
  }
}
