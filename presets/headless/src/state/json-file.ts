import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import lockfile from 'proper-lockfile'

/** A small JSON file that several processes read and change. */
export interface JsonFile<T> {
  readonly path: string
  /** The content, or the empty value when there is none that can be used. Throws when the file cannot be read. */
  read(): T
  /**
   * Changes the content under a lock that survives a kill. `change` answers the new content. What stood there and
   * could not be used is kept under another name.
   */
  update(change: (content: T) => T): Promise<T>
}

/** What {@link jsonFile} takes. */
export interface JsonFileOptions<T> {
  readonly path: string
  /** A fresh empty value. */
  empty(): T
  /** Whether parsed content is usable. */
  accepts(content: unknown): content is T
  /** Told when unusable content was about to be replaced, with where it was put. */
  onSetAside?(path: string, keptAs: string): void
}

/** A JSON file that is written atomically and never overwritten when its content cannot be used. */
export function jsonFile<T>(options: JsonFileOptions<T>): JsonFile<T> {
  const { path } = options
  const content = (): T | 'missing' | 'unusable' => {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
      throw thrown
    }
    try {
      const parsed: unknown = JSON.parse(text)
      return options.accepts(parsed) ? parsed : 'unusable'
    } catch {
      return 'unusable'
    }
  }
  return {
    path,
    read: () => {
      const found = content()
      return found === 'missing' || found === 'unusable' ? options.empty() : found
    },
    update: async (change) => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      return withLock(path, () => {
        let found = content()
        // Under the lock, or a good file that another process has just written could be set aside.
        if (found === 'unusable') {
          const keptAs = `${path}.unreadable-${Date.now()}`
          renameSync(path, keptAs)
          options.onSetAside?.(path, keptAs)
          found = 'missing'
        }
        const next = change(found === 'missing' ? options.empty() : found)
        writeAtomically(path, `${JSON.stringify(next, undefined, 2)}\n`)
        return next
      })
    },
  }
}

/** Runs `work` while no other process has the lock of this file; a holder that was killed is waited for ten seconds. */
export async function withLock<T>(path: string, work: () => T): Promise<T> {
  const release = await lockfile.lock(path, {
    realpath: false,
    stale: 10_000,
    retries: { retries: 60, minTimeout: 20, maxTimeout: 500, factor: 1.5 },
    // Thrown from a timer by default, which would end the process around us.
    onCompromised: () => undefined,
  })
  try {
    return work()
  } finally {
    // A lock that was taken from us is nothing to give back.
    await release().catch(() => undefined)
  }
}

/**
 * Writes a file so that a reader sees the old or the new content, also after a crash. A file that is there keeps its
 * permissions, and a symbolic link stays one.
 */
export function writeAtomically(path: string, text: string): void {
  const target = targetOf(path)
  const temporary = `${target}.${process.pid}.${randomUUID().slice(0, 8)}.tmp`
  const file = openSync(temporary, 'wx', 0o600)
  try {
    const mode = modeOf(target)
    if (mode !== undefined) fchmodSync(file, mode)
    writeFileSync(file, text)
    fsyncSync(file)
    closeSync(file)
    renameSync(temporary, target)
  } catch (thrown) {
    rmSync(temporary, { force: true })
    throw thrown
  }
}

function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}
