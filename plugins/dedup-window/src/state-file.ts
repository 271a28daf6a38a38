import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isObject } from './entry.ts'

/** Nobody takes this long to write: what is older was left by a process that was killed. */
const ABANDONED_MS = 60_000

/**
 * The file that the processes of this machine share. Written under its lock; read at any time, since it is only ever
 * replaced as a whole.
 */
export class StateFile {
  readonly path: string
  /** A directory, there while somebody writes. */
  readonly lock: string
  /** Tells whether the file is still the one that was read or written here last. */
  #seen = ''
  #isSwept = false

  constructor(path: string) {
    this.path = path
    this.lock = `${path}.lock`
  }

  /**
   * What the file holds, or `same` when nothing was written since the last look. One that is missing or empty says
   * nothing, which is `same` too. `unusable` is what is no JSON object. Throws when it cannot be read.
   */
  read(): Readonly<Record<string, unknown>> | 'same' | 'unusable' {
    const found = statSync(this.path, { bigint: true, throwIfNoEntry: false })
    const seen = found ? stampOf(found) : ''
    if (seen === this.#seen) return 'same'
    const text = found ? readFileSync(this.path, 'utf8') : ''
    let content: unknown
    try {
      content = text.trim() === '' ? undefined : JSON.parse(text)
    } catch {
      return 'unusable'
    }
    if (content !== undefined && !isObject(content)) return 'unusable'
    this.#seen = seen
    return content ?? 'same'
  }

  /**
   * Replaces the file: a reader sees the old or the new content. Not flushed to the disk, which would hold up every
   * process that waits for the lock: after a power cut the file may be empty or old, and then an event of the last five
   * minutes is delivered once more, which is what a restarted machine would do anyway. Throws when it cannot be written.
   */
  write(text: string): void {
    const target = targetOf(this.path)
    const temporary = `${target}.${process.pid}.tmp`
    if (!this.#isSwept) sweep(target)
    this.#isSwept = true
    try {
      const file = openSync(temporary, 'w', 0o600)
      let seen: string
      try {
        writeFileSync(file, text)
        seen = stampOf(fstatSync(file, { bigint: true }))
      } finally {
        closeSync(file)
      }
      renameSync(temporary, target)
      this.#seen = seen
    } catch (thrown) {
      rmSync(temporary, { force: true })
      throw thrown
    }
  }
}

function stampOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino}/${size}/${mtimeNs}`
}

/** A symbolic link stays one. */
function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Removes what killed processes have left half written. */
function sweep(target: string): void {
  try {
    const directory = dirname(target)
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(`${basename(target)}.`) || !name.endsWith('.tmp')) continue
      const path = join(directory, name)
      if (Date.now() - statSync(path).mtimeMs > ABANDONED_MS) rmSync(path, { force: true })
    }
  } catch {
    // It is in nobody's way.
  }
}
