import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import lockfile from 'proper-lockfile'

/** A lock that nobody has refreshed for this long was left by a dead process. */
const STALE_MS = 10_000

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
  for (let tries = 0; ; tries++) {
    try {
      return await lockfile.lock(path, {
        lockfilePath: lock,
        realpath: false,
        stale: STALE_MS,
        retries: { retries: 60, minTimeout: 20, maxTimeout: 500, factor: 1.5, randomize: true },
        // Thrown from a timer by default, which would end the process around us.
        onCompromised: () => undefined,
      })
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException
      // Other programs put a file into the directory, which keeps it from being removed when they are killed.
      if (tries === 0 && (code === 'ENOTEMPTY' || code === 'EEXIST') && isStale(lock)) setAside(lock)
      else throw code === 'ELOCKED' ? heldError(lock) : thrown
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

/** Renamed before it is removed: of several that find it stale, one takes it away, and never a fresh one. */
function setAside(lock: string): void {
  const aside = `${lock}.${process.pid}.${randomUUID().slice(0, 8)}`
  try {
    renameSync(lock, aside)
    rmSync(aside, { recursive: true, force: true })
  } catch {
    // Another process was quicker.
  }
}
