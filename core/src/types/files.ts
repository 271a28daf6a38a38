/** A small JSON file that several processes read and change. */
export interface JsonFile<T> {
  readonly path: string
  /** The content, or the empty value when there is none that can be used. Throws when the file cannot be read. */
  read(): T
  /**
   * Changes the content under a lock that survives a kill. `change` answers the new content; the file is left alone
   * when that is what it was given. What stood there and could not be used is kept under another name.
   */
  update(change: (content: T) => T): Promise<T>
}

/** What {@link Files.json} takes. */
export interface JsonFileOptions<T> {
  /** Absolute. */
  readonly path: string
  /** The lock's path; `<path>.lock` when absent. It is a directory, so that other programs can take the same lock. */
  readonly lock?: string
  /** A fresh empty value. */
  empty(): T
  /** Whether parsed content is usable. */
  accepts(content: unknown): content is T
  /** Told when unusable content was about to be replaced, with where it was put. */
  onSetAside?(path: string, keptAs: string): void
}

/** Files that several processes share: written whole and atomically, changed under locks that survive a kill. */
export interface Files {
  json<T>(options: JsonFileOptions<T>): JsonFile<T>
  /**
   * Runs `work` while no other process has the lock of `path` (`<path>.lock`, or `lock`). A holder that was killed is
   * waited for ten seconds, or for `staleMs` where programs that refresh the same lock less often need longer. Keep it
   * short: others wait.
   */
  locked<T>(path: string, work: () => T | Promise<T>, lock?: string, staleMs?: number): Promise<T>
  /** Writes a file so that a reader sees the old or the new content, also after a crash. */
  write(path: string, text: string | Uint8Array): void
  /** Adds one line to the end of a file, whole, also when its last line was torn. Call it under the file's lock. */
  append(path: string, line: string): void
}
