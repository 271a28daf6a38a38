import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CredentialStore } from '@tapline/core'

const COMMAND_TIMEOUT_MS = 10_000
const MOST_OUTPUT = 65_536
const ENVIRONMENT_PREFIX = 'PI_MCP_TOKEN_'

/** Variables, or `process.env`. */
type Env = Readonly<Record<string, string | undefined>>

interface Entry {
  /** Of an entry of the type `api_key`: text, `$NAME`, or `!command`. */
  readonly key?: unknown
  /** Of an entry of the type `oauth`. A server gave it: it is text and never a command. */
  readonly access?: unknown
  readonly token?: unknown
  readonly expires?: unknown
}

/** pi's own credential store, `<agent dir>/auth.json`, read anew each time so that a new entry counts at once. */
export function piCredentialStore(agentDir: string, env: Env): CredentialStore {
  return {
    label: 'pi’s credential store',
    read: (ref) => {
      const entry = readEntry(join(agentDir, 'auth.json'), ref)
      if (typeof entry === 'string') return resolveValue(entry, env)
      if (typeof entry !== 'object' || entry === null) return undefined
      const { key, access, token, expires } = entry as Entry
      if (typeof expires === 'number' && expires < Date.now()) {
        throw new Error('the stored credential has expired; sign in again')
      }
      if (typeof key === 'string') return resolveValue(key, env)
      return [access, token].find((value) => typeof value === 'string')
    },
  }
}

/** Messages of JSON.parse quote the text, which must stay secret: they are no cause. */
function readEntry(path: string, ref: string): unknown {
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
  return typeof entries === 'object' && entries !== null && Object.hasOwn(entries, ref)
    ? (entries as Record<string, unknown>)[ref]
    : undefined
}

/**
 * pi lets a stored key be a command (`!op read …`) or hold variables (`$NAME`, `${NAME}`, with `$$` and `$!` for the
 * characters themselves): what is written there is never sent itself.
 */
function resolveValue(value: string, env: Env): ReturnType<CredentialStore['read']> {
  if (value.startsWith('!')) return runCommand(value.slice(1), env)
  let missing = false
  const resolved = value.replace(
    /\$(?:([$!])|\{([^}]*)\}|([A-Za-z_]\w*))/g,
    (all, escaped: string | undefined, braced: string | undefined, bare: string | undefined) => {
      if (escaped !== undefined) return escaped
      const name = braced ?? bare ?? ''
      if (!/^[A-Za-z_]\w*$/.test(name)) return all
      if (!name.startsWith(ENVIRONMENT_PREFIX)) {
        throw new Error(
          `the stored credential names a variable; only ${ENVIRONMENT_PREFIX}* are read from the environment`,
        )
      }
      missing ||= !env[name]
      return env[name] ?? ''
    },
  )
  return missing ? undefined : resolved
}

function runCommand(command: string, env: Env): Promise<string> | undefined {
  // Node's own message would quote the command.
  if (command.includes('\0')) return undefined
  const windows = process.platform === 'win32'
  const [shell, flag] = windows ? ['cmd.exe', '/c'] : ['/bin/sh', '-c']
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // A group of its own, so that what the shell started ends with it.
  const child = spawn(shell, [flag, command], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: !windows,
    windowsHide: true,
  })
  const fail = (): void => {
    reject(new Error('the command that gives the stored credential failed'))
    killGroup(child.pid)
  }
  const timer = setTimeout(fail, COMMAND_TIMEOUT_MS)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (output.length > MOST_OUTPUT) fail()
  })
  child.once('error', fail)
  child.once('close', (code) => (code === 0 ? resolve(output.trim()) : fail()))
  return promise.finally(() => clearTimeout(timer))
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
