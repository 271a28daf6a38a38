import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Diagnostic } from '@tapline/core'
import { type CachedTool, packTools, unpackTools } from './entry.ts'
import { readWhole, replaceFile, setAside } from './file.ts'
import { formatFile, isKey, type Line, mergeLines, parseFile } from './lines.ts'

/** The tools of one server, with the fingerprint that they are valid for. */
export interface CacheEntry {
  readonly server: string
  readonly fingerprint: string
  readonly tools: readonly CachedTool[]
}

/** The last tool list of each server, in one file. */
export interface ToolCache {
  /** The tools of these servers (name → fingerprint), as far as they are known. One synchronous read; never throws. */
  read(wanted: ReadonlyMap<string, string>): ReadonlyMap<string, readonly CachedTool[]>
  /** Keeps these entries; others stay. Writes nothing when nothing is new. Rejects when the file cannot be written. */
  write(entries: readonly CacheEntry[]): Promise<void>
  /** What happened to the file, for a person. */
  readonly diagnostics: readonly Diagnostic[]
}

/** The fingerprint of a server: everything that its tools and their names depend on. */
export function fingerprint(
  configuration: string | Uint8Array,
  plugins: readonly string[],
  versions: readonly string[],
): string {
  return createHash('sha256')
    .update(configuration)
    .update(`\0${JSON.stringify([plugins, versions])}`)
    .digest('hex')
}

/** The cache in `file`. A damaged file is set aside, never overwritten. */
export function toolCache(file: string, now: () => number = Date.now): ToolCache {
  const diagnostics: Diagnostic[] = []
  let writing: Promise<void> = Promise.resolve()
  let usable = true

  const damaged = (inode: bigint | undefined): void => {
    const kept = setAside(file, inode, now())
    usable = kept !== undefined
    const fate =
      kept === undefined ? 'could not be set aside, so that nothing is cached' : `was set aside as ${kept}`
    diagnostics.push({
      severity: 'warning',
      message: `The cache of tools is damaged; it ${fate}.`,
      path: file,
    })
  }

  const read = (): { readonly lines: readonly Line[]; readonly inode?: bigint } => {
    const { missing, text, ...rest } = readWhole(file)
    if (missing) return { lines: [] }
    const lines = text === undefined ? undefined : parseFile(text)
    if (lines) return { lines, ...rest }
    damaged(rest.inode)
    return { lines: [] }
  }

  const keep = async (entries: readonly CacheEntry[]): Promise<void> => {
    if (!usable) return
    const fresh: Line[] = []
    for (const { server, fingerprint, tools } of entries) {
      if (!isKey(server, fingerprint)) continue
      fresh.push({ server, fingerprint, savedAt: now(), tools: packTools(tools) })
      // Thousands of tools are many milliseconds of work: whoever waits for the event loop comes in between.
      await setImmediate()
    }
    const { lines } = read()
    const merged = mergeLines(lines, fresh)
    if (usable && merged !== lines) await replaceFile(file, formatFile(merged))
  }

  return {
    diagnostics,
    read: (wanted) => {
      const found = new Map<string, readonly CachedTool[]>()
      if (wanted.size === 0 || !usable) return found
      const { lines, inode } = read()
      for (const line of lines) {
        if (wanted.get(line.server) !== line.fingerprint) continue
        const tools = unpackTools(line.tools)
        if (tools) found.set(line.server, tools)
        else if (usable) damaged(inode)
      }
      return found
    },
    write: (entries) => {
      const done = writing.then(() => keep(entries))
      writing = done.catch(() => undefined)
      return done
    },
  }
}
