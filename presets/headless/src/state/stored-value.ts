import { spawn } from 'node:child_process'

const COMMAND_TIMEOUT_MS = 10_000
const MOST_OUTPUT = 65_536

/** Variables, or `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>

/**
 * pi lets a stored key be a command (`!op read …`) or hold variables (`$NAME`, `${NAME}`, with `$$` and `$!` for the
 * characters themselves): what is written there is never sent itself. `mayRead` throws where a variable may not be read.
 * Undefined when one is not set; rejects or throws a sentence without the value.
 */
export function resolveStored(
  value: string,
  env: Env,
  mayRead: (name: string) => void = () => undefined,
): Promise<string> | string | undefined {
  if (value.startsWith('!')) return runCommand(value.slice(1), env)
  let missing = false
  const resolved = value.replace(
    /\$(?:([$!])|\{([^}]*)\}|([A-Za-z_]\w*))/g,
    (all, escaped: string | undefined, braced: string | undefined, bare: string | undefined) => {
      if (escaped !== undefined) return escaped
      const name = braced ?? bare ?? ''
      if (!/^[A-Za-z_]\w*$/.test(name)) return all
      mayRead(name)
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
