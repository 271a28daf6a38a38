import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import lockfile from 'proper-lockfile'

/** A lock that nobody has refreshed for this long was left by a dead process. */
const STALE_MS = 10_000
/** Longer than {@link STALE_MS}: whoever waits sees a lock grow stale. */
const LONGEST_WAIT_MS = 25_000
const HELD: ReadonlySet<string | undefined> = new Set(['ELOCKED', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'])

/**
 * Runs `work` while no other process has the lock of this file; a holder that was killed is waited for ten seconds. The
 * lock is a directory, `<path>.lock` or `lock`: pi-loops and pi lock the same way.
 */
export async function withLock<T>(
  path: string,
  work: () => T | Promise<T>,
  lock = `${path}.lock`,
): Promise<T> {
  mkdirSync(dirname(lock), { recursive: true, mode: 0o700 })
  const release = await acquire(path, lock)
  try {
    return await work()
  } finally {
    // A lock that was taken from us is nothing to give back.
    await release().catch(() => undefined)
  }
}

async function acquire(path: string, lock: string): Promise<() => Promise<void>> {
  const deadline = performance.now() + LONGEST_WAIT_MS
  for (;;) {
    if (isStale(lock) && holdsSomething(lock)) setAside(lock)
    try {
      return await lockfile.lock(path, {
        lockfilePath: lock,
        realpath: false,
        stale: STALE_MS,
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

function isStale(lock: string): boolean {
  const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? { mtimeMs: Number.NaN }
  return Date.now() - mtimeMs > STALE_MS
}

/** Other programs put a file into the directory, which keeps it from being removed when they were killed. */
function holdsSomething(lock: string): boolean {
  try {
    return readdirSync(lock).length > 0
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ENOTDIR'
  }
}

/** Renamed before it is removed: of several that find it stale, one takes it away. */
function setAside(lock: string): void {
  const aside = `${lock}.${process.pid}.${randomUUID().slice(0, 8)}`
  try {
    renameSync(lock, aside)
    // Another process may have been quicker, and this is its fresh one.
    if (isStale(aside)) rmSync(aside, { recursive: true, force: true })
    else renameSync(aside, lock)
  } catch {
    // Another process was quicker.
  }
}
