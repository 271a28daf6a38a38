import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CredentialStore } from '@tapline/core'

const COMMAND_TIMEOUT_MS = 10_000
const ENVIRONMENT_PREFIX = 'PI_MCP_TOKEN_'

type Entry =
  | string
  | {
      readonly type?: unknown
      readonly key?: unknown
      readonly access?: unknown
      readonly token?: unknown
      readonly expires?: unknown
    }

/** pi's own credential store, `<agent dir>/auth.json`, read anew each time so that a new entry counts at once. */
export function piCredentialStore(agentDir: string, env: Readonly<Record<string, string | undefined>>): CredentialStore {
  return {
    label: 'pi’s credential store',
    read: (ref) => {
      const entry = readEntry(join(agentDir, 'auth.json'), ref)
      if (entry === undefined) return undefined
      if (typeof entry === 'string') return resolveValue(entry, env)
      if (typeof entry.expires === 'number' && entry.expires < Date.now()) {
        throw new Error('the stored credential has expired; sign in again')
      }
      const value = [entry.key, entry.access, entry.token].find((candidate) => typeof candidate === 'string')
      return typeof value === 'string' ? resolveValue(value, env) : undefined
    },
  }
}

function readEntry(path: string, ref: string): Entry | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read`, { cause: thrown })
  }
  let entries: unknown
  try {
    entries = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (thrown) {
    throw new Error(`${path} is not valid JSON`, { cause: thrown })
  }
  return typeof entries === 'object' && entries !== null && Object.hasOwn(entries, ref)
    ? (entries as Record<string, Entry>)[ref]
    : undefined
}

/** pi lets a stored key be a command (`!op read …`) or a variable (`$NAME`): never send that text itself. */
function resolveValue(value: string, env: Readonly<Record<string, string | undefined>>): Promise<string> | string | undefined {
  if (value.startsWith('!')) return runCommand(value.slice(1))
  const variable = /^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$/.exec(value)?.[1]
  if (variable === undefined) return value
  if (!variable.startsWith(ENVIRONMENT_PREFIX)) {
    throw new Error(`the stored credential names a variable; only ${ENVIRONMENT_PREFIX}* are read from the environment`)
  }
  return env[variable]
}

function runCommand(command: string): Promise<string> {
  const [shell, flag] = process.platform === 'win32' ? ['cmd.exe', '/c'] : ['/bin/sh', '-c']
  return new Promise((resolve, reject) => {
    execFile(shell, [flag, command], { timeout: COMMAND_TIMEOUT_MS, maxBuffer: 65_536 }, (error, stdout) => {
      // What the command printed may be the secret itself.
      if (error) reject(new Error('the command that gives the stored credential failed'))
      else resolve(stdout.trim())
    })
  })
}
