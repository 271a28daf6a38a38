import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CredentialStore } from '@tapline/core'
import { type Env, resolveStored } from './stored-value.ts'

const ENVIRONMENT_PREFIX = 'PI_MCP_TOKEN_'

/** What stands under one name in `auth.json`; unchecked. */
export interface StoredEntry {
  readonly type?: unknown
  /** Of an entry of the type `api_key`: text, `$NAME`, or `!command`. */
  readonly key?: unknown
  /** Of an entry of the type `oauth`. A server gave it: it is text and never a command. */
  readonly access?: unknown
  readonly token?: unknown
  readonly expires?: unknown
  /** Variables that go before those of the process. */
  readonly env?: unknown
}

/** pi's own credential store, `<agent dir>/auth.json`, read anew each time so that a new entry counts at once. */
export function piCredentialStore(agentDir: string, env: Env): CredentialStore {
  return {
    label: 'pi’s credential store',
    read: (ref) => {
      const entry = readEntry(agentDir, ref)
      if (typeof entry === 'string') return resolveStored(entry, env, mayRead)
      if (typeof entry !== 'object' || entry === null) return undefined
      const { key, access, token, expires } = entry as StoredEntry
      if (typeof expires === 'number' && expires < Date.now()) {
        throw new Error('the stored credential has expired; sign in again')
      }
      if (typeof key === 'string') return resolveStored(key, env, mayRead)
      return [access, token].find((value) => typeof value === 'string')
    },
  }
}

/** A project's entry may name the reference: of the environment it reaches what is meant for servers alone. */
function mayRead(name: string): void {
  if (name.startsWith(ENVIRONMENT_PREFIX)) return
  throw new Error(
    `the stored credential names a variable; only ${ENVIRONMENT_PREFIX}* are read from the environment`,
  )
}

/**
 * What stands under a name in `<agent dir>/auth.json`. Throws a sentence when the file cannot be read; messages of
 * JSON.parse quote the text, which must stay secret, so they are no cause.
 */
export function readEntry(agentDir: string, name: string): unknown {
  const path = join(agentDir, 'auth.json')
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read (${code})`, { cause: thrown })
  }
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch {
    throw new Error(`${path} is not valid JSON`)
  }
  return typeof entries === 'object' && entries !== null && Object.hasOwn(entries, name)
    ? (entries as Record<string, unknown>)[name]
    : undefined
}
