import { copyFileSync, readFileSync, statSync } from 'node:fs'
import type { Files } from '@tapline/core'
import { type InboxEntry, lineOf, readEntry } from './entry.ts'

/** Beyond this many bytes the older half of what has been triaged goes. */
const LARGEST = 1024 * 1024

/** One line of the file; a line that cannot be understood has no entry and stays as it is. */
interface Line {
  readonly raw: string
  readonly entry: InboxEntry | undefined
}

/** The file as it stood at one moment. */
interface Content {
  /** Tells whether the file is still the same. */
  readonly stamp: string
  readonly size: number
  readonly lines: readonly Line[]
  readonly entries: readonly InboxEntry[]
  /** It holds bytes that are no text; they would not survive being written. */
  readonly garbled: boolean
}

const MISSING: Content = {
  stamp: 'missing',
  size: 0,
  lines: [],
  entries: [],
  garbled: false,
}

/** `inbox.jsonl`: parsed once, and again when another process has changed it. What changes it needs the lock. */
export class InboxFile {
  readonly path: string
  readonly #files: Files
  #content: Content = MISSING
  /** Run ids, gathered when they are first asked for, and the entries that they were gathered from. */
  #runs = { of: MISSING.entries, ids: new Set<string>() }

  constructor(path: string, files: Files) {
    this.path = path
    this.#files = files
  }

  /** The file as it is now. Throws a sentence when it cannot be read. */
  read(): Content {
    try {
      // Before the content: what is written in between is seen the next time.
      const { stamp, size } = stampOf(this.path)
      if (stamp !== this.#content.stamp)
        this.#content = stamp === MISSING.stamp ? MISSING : parse(readFileSync(this.path), stamp, size)
      return this.#content
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return (this.#content = MISSING)
      throw inaccessible(this.path, 'read', thrown)
    }
  }

  /** Whether there is an entry of this run. */
  hasRun(id: string): boolean {
    const { entries } = this.read()
    if (this.#runs.of !== entries)
      this.#runs = { of: entries, ids: new Set(entries.map(({ run_id }) => run_id)) }
    return this.#runs.ids.has(id)
  }

  /** Adds an entry to the end. */
  append(entry: InboxEntry): void {
    const before = this.read()
    const raw = lineOf(entry)
    this.#write(() => this.#files.append(this.path, raw))
    const { stamp, size } = stampOf(this.path)
    // A full disk takes a part of a line without a word.
    if (size < before.size + Buffer.byteLength(raw) + 1)
      throw new Error(`The inbox ${this.path} cannot be written: the disk may be full.`)
    const entries = [...before.entries, entry]
    if (this.#runs.of === before.entries) this.#runs = { of: entries, ids: this.#runs.ids.add(entry.run_id) }
    this.#content = { ...before, stamp, size, lines: [...before.lines, { raw, entry }], entries }
    try {
      this.#shorten()
    } catch {
      // The entry is there. The next one tries it again.
    }
  }

  /** Puts the entries that `change` answers in the place of those it was given. */
  change(change: (entry: InboxEntry) => InboxEntry): void {
    const { lines } = this.read()
    this.#rewrite(
      lines.map((line) => {
        const next = line.entry && change(line.entry)
        return next === undefined || next === line.entry ? line : { raw: lineOf(next, line.raw), entry: next }
      }),
    )
  }

  #shorten(): void {
    const { size, lines } = this.#content
    if (size <= LARGEST) return
    const triaged = lines.filter(({ entry }) => entry?.status === 'claimed' || entry?.status === 'dismissed')
    if (triaged.length === 0) return
    const gone = new Set(triaged.slice(0, Math.ceil(triaged.length / 2)))
    this.#rewrite(lines.filter((line) => !gone.has(line)))
  }

  #rewrite(lines: readonly Line[]): void {
    const text = lines.map(({ raw }) => `${raw}\n`).join('')
    this.#write(() => {
      if (this.#content.garbled) copyFileSync(this.path, `${this.path}.unreadable-${Date.now()}`)
      this.#files.write(this.path, text)
    })
    const { stamp, size } = stampOf(this.path)
    this.#content = contentOf(lines, stamp, size, false)
  }

  #write(write: () => void): void {
    try {
      write()
    } catch (thrown) {
      throw inaccessible(this.path, 'written', thrown)
    }
  }
}

function parse(bytes: Buffer, stamp: string, size: number): Content {
  const text = bytes.toString('utf8')
  const raws = text.split('\n')
  // What follows the last line break is a torn line, or nothing.
  if (raws.at(-1) === '') raws.pop()
  const lines = raws.map((raw, index) => ({
    raw,
    entry: readEntry(index === 0 ? raw.replace(/^\uFEFF/, '') : raw),
  }))
  const garbled = text.includes('\uFFFD') && !Buffer.from(text).equals(bytes)
  return contentOf(lines, stamp, size, garbled)
}

function contentOf(lines: readonly Line[], stamp: string, size: number, garbled: boolean): Content {
  const entries = lines.flatMap(({ entry }) => (entry === undefined ? [] : [entry]))
  return { stamp, size, lines, entries, garbled }
}

function stampOf(path: string): { stamp: string; size: number } {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  if (stats === undefined) return MISSING
  return { stamp: `${stats.ino} ${stats.size} ${stats.mtimeNs}`, size: Number(stats.size) }
}

/** A sentence for the person who is told of a file that is no use. */
export function inaccessible(path: string, verb: 'read' | 'written', thrown: unknown): unknown {
  const { code } = thrown as NodeJS.ErrnoException
  if (code === undefined) return thrown
  const why = REASONS[code] ?? `the system says ${code}.`
  return new Error(`The inbox ${path} cannot be ${verb}: ${why}`, { cause: thrown })
}

const NO_DIRECTORY = 'a file stands where its directory or its lock, inbox.lock, should be. Move it away.'
const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: NO_DIRECTORY,
  EEXIST: NO_DIRECTORY,
  EISDIR: 'a directory stands in its place. Move it away.',
  EACCES: 'its permissions do not allow it. Give yourself access to it.',
  EPERM: 'its permissions do not allow it. Give yourself access to it.',
  EROFS: 'the file system is read-only.',
  ENOSPC: 'the disk is full. Make room.',
  EFBIG: 'it would be larger than the system allows.',
  EDQUOT: 'your quota is used up. Make room.',
}
