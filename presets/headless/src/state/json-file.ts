import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import lockfile from 'proper-lockfile'

/** A small JSON file that several processes read and change. */
export interface JsonFile<T> {
  readonly path: string
  /** The content, or the empty value when there is none. Unreadable content is set aside first. */
  read(): T
  /** Changes the content under a lock that survives a kill. `change` answers the new content. */
  update(change: (content: T) => T): Promise<T>
}

/** What {@link jsonFile} takes. */
export interface JsonFileOptions<T> {
  readonly path: string
  /** A fresh empty value. */
  empty(): T
  /** Whether parsed content is usable. */
  accepts(content: unknown): content is T
  /** Told when content was unreadable, with where it was put. */
  onSetAside?(path: string, keptAs: string): void
}

/** A JSON file that is written atomically and never overwritten when it cannot be read. */
export function jsonFile<T>(options: JsonFileOptions<T>): JsonFile<T> {
  const { path } = options
  const read = (): T => {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return options.empty()
      throw thrown
    }
    try {
      const content: unknown = JSON.parse(text)
      if (options.accepts(content)) return content
    } catch {
      // Handled below, like content of another shape.
    }
    const keptAs = `${path}.unreadable-${Date.now()}`
    renameSync(path, keptAs)
    options.onSetAside?.(path, keptAs)
    return options.empty()
  }
  return {
    path,
    read,
    update: async (change) => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const release = await lockfile.lock(path, {
        realpath: false,
        stale: 10_000,
        retries: { retries: 60, minTimeout: 20, maxTimeout: 500, factor: 1.5 },
      })
      try {
        const content = change(read())
        writeAtomically(path, `${JSON.stringify(content, undefined, 2)}\n`)
        return content
      } finally {
        await release()
      }
    },
  }
}

/** Writes a file so that a reader sees the old or the new content, also after a crash. */
export function writeAtomically(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.${randomUUID().slice(0, 8)}.tmp`
  const file = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } catch (thrown) {
    closeSync(file)
    rmSync(temporary, { force: true })
    throw thrown
  }
  closeSync(file)
  renameSync(temporary, path)
}
