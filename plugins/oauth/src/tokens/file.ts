import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Files, JsonFile } from '@tapline/core'
import { faultOf } from './safety.ts'
import { isRecord, type Stored, usable } from './stored.ts'

/** pi refreshes the lock of a renewal every ten seconds, and takes one for left after twenty. */
const RENEWAL_STALE_MS = 20_000

/** Whose tokens. A server of the same address under another name signs in by itself. */
export interface Owner {
  readonly name: string
  /** As the entry has it, filled in. */
  readonly url: string
}

type Entries = Readonly<Record<string, unknown>>

/** `mcp-auth.json`, which pi and `pi mcp login` read and write as well, under the same locks. */
export class TokenFile {
  readonly path: string
  readonly #files: Files
  readonly #warn: (message: string) => void
  #seen: { readonly signature: string; readonly entries: Entries } | undefined

  constructor(path: string, files: Files, warn: (message: string) => void) {
    this.path = path
    this.#files = files
    this.#warn = warn
  }

  /** Throws a sentence when the file must not be used. */
  check(): void {
    const fault = faultOf(this.path)
    if (fault?.severity === 'refused') throw new Error(fault.sentence)
  }

  /** What is stored for a server; nothing where the file cannot be used, which is said. */
  async read(owner: Owner): Promise<Stored | undefined> {
    const { key, legacy, serverUrl } = keysOf(owner)
    const entries = await this.#entries()
    if (entries[key] !== undefined || entries[legacy] === undefined) return usable(entries[key], serverUrl)
    // Where it cannot be taken over, it is used as it stands.
    return this.change(owner, (stored) => stored).catch(() => usable(entries[legacy], serverUrl))
  }

  /** Changes what is stored for a server; undefined removes it. Answers what is stored then. */
  async change(
    owner: Owner,
    change: (stored: Stored | undefined) => Stored | undefined,
  ): Promise<Stored | undefined> {
    const { key, legacy, serverUrl } = keysOf(owner)
    let result: Stored | undefined
    await this.#update((entries) => {
      // Earlier versions of pi stored by address alone: the first that asks takes that over.
      const inherits = entries[key] === undefined && entries[legacy] !== undefined
      const before = usable(entries[inherits ? legacy : key], serverUrl)
      result = change(before)
      if (result === before && !inherits) return entries
      const others = without(entries, inherits ? [key, legacy] : [key])
      return result === undefined ? others : { ...others, [key]: result }
    })
    return result
  }

  /** Removes what is stored for a server. Answers whether there was anything. */
  async remove(owner: Owner): Promise<boolean> {
    const { key, legacy } = keysOf(owner)
    let removed = false
    await this.#update((entries) => {
      const stored = [key, legacy].find((name) => entries[name] !== undefined)
      if (stored === undefined) return entries
      removed = true
      return without(entries, [stored])
    })
    return removed
  }

  /** Runs `work` while no other process renews the tokens of this server. Rejects when the lock cannot be had. */
  renewing<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
    const hash = createHash('sha256').update(keysOf(owner).key).digest('hex').slice(0, 16)
    const path = join(dirname(this.path), `mcp-auth-refresh-${hash}`)
    return this.#files.locked(path, work, `${path}.lock`, RENEWAL_STALE_MS)
  }

  /** Read without the lock; pi writes in place, so what cannot be read may be half a file, and is read again under it. */
  async #entries(): Promise<Entries> {
    const fault = faultOf(this.path)
    if (fault !== undefined) this.#warn(fault.sentence)
    if (fault?.severity === 'refused') return {}
    try {
      const signature = signatureOf(this.path)
      if (signature === undefined) return {}
      if (this.#seen?.signature === signature) return this.#seen.entries
      const entries =
        parsed(this.path) ?? (await this.#files.locked(this.path, () => parsed(this.path), lockOf(this.path)))
      if (entries === undefined) {
        this.#warn(`${this.path} cannot be read and is not used; the next sign-in sets it aside.`)
        return {}
      }
      this.#seen = { signature, entries }
      return entries
    } catch (thrown) {
      this.#warn(`${this.path} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
      return {}
    }
  }

  async #update(change: (entries: Entries) => Entries): Promise<void> {
    this.check()
    await this.#json().update(change)
  }

  #json(): JsonFile<Entries> {
    return this.#files.json<Entries>({
      path: this.path,
      lock: lockOf(this.path),
      empty: () => ({}),
      accepts: isRecord,
      onSetAside: (path, keptAs) => this.#warn(`${path} could not be read and was set aside as ${keptAs}.`),
    })
  }
}

function without(entries: Entries, names: readonly string[]): Entries {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !names.includes(name)))
}

function keysOf({ name, url }: Owner): { key: string; legacy: string; serverUrl: string } {
  const { href } = new URL(url)
  return { key: `mcp__${name.replaceAll('-', '_')}|${href}`, legacy: href, serverUrl: href }
}

/** pi locks the file that a symbolic link leads to. */
function lockOf(path: string): string {
  try {
    return `${realpathSync(path)}.lock`
  } catch {
    return `${path}.lock`
  }
}

function signatureOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
}

/** The entries of the file; undefined when it holds something else. */
function parsed(path: string): Entries | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isRecord(content) ? content : undefined
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}
