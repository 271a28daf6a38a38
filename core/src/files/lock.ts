import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import lockfile from 'proper-lockfile'

/** A lock that nobody has refreshed for this long was left by a dead process. */
const STALE_MS = 10_000
/** Longer than {@link STALE_MS}: whoever waits sees a lock grow stale. */
const LONGEST_WAIT_MS = 25_000
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
  try {
    return await work()
  } finally {
    // A lock that was taken from us is nothing to give back.
    await release().catch(() => undefined)
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
        stale: staleMs,
        retries: { retries: 20, minTimeout: 10, maxTimeout: 100, factor: 1.3, randomize: true },
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
 * Answers the time of a lock that a dead process has left, where the library does not remove it by itself: it is no
 * empty directory, or it is from the future, and nobody has refreshed it for as long as it was watched.
 */
function watch(lock: string, staleMs: number): () => number | undefined {
  let seen = Number.NaN
  let since = 0
  return () => {
    const time = timeOf(lock)
    if (time === undefined) return undefined
    if (Date.now() - time > staleMs) return isEmptyDirectory(lock) ? undefined : time
    if (time !== seen) [seen, since] = [time, performance.now()]
    return performance.now() - since > staleMs ? time : undefined
  }
}

function timeOf(lock: string): number | undefined {
  return lstatSync(lock, { throwIfNoEntry: false })?.mtimeMs
}

/** Other programs put a file into the directory, and what stands there may be no directory at all: neither can be removed. */
function isEmptyDirectory(lock: string): boolean {
  try {
    return readdirSync(lock).length === 0
  } catch {
    return false
  }
}

/** Renamed before it is removed: of several that find it left, one takes it away. */
function setAside(lock: string, time: number): void {
  const aside = `${lock}.${process.pid}.${randomUUID().slice(0, 8)}`
  try {
    renameSync(lock, aside)
    // Another process may have been quicker, and this is its fresh one.
    if (timeOf(aside) === time) rmSync(aside, { recursive: true, force: true })
    else renameSync(aside, lock)
  } catch {
    // Another process was quicker.
  }
}
