import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { exitOf, killQuietly, waitUntil, within } from './processes.ts'
import { makeDirectory } from './test-root.ts'

/** A real Secret Service on a message bus of its own, unlocked and empty. */
export interface SecretService extends AsyncDisposable {
  /** What a process needs in its environment to find it. */
  readonly env: Readonly<Record<string, string>>
  /** From now on it takes questions and answers none, until {@link thaw}. */
  freeze(): void
  thaw(): void
  /** Ends the service and its bus: the address leads nowhere from then on. */
  stop(): Promise<void>
}

/** Options of a Secret Service. */
export interface SecretServiceOptions {
  /** `locked`: what it has is locked, and there is nobody to type the password. */
  readonly state?: 'unlocked' | 'locked'
  /** The directory of an earlier one, with what was stored there. */
  readonly home?: string
}

const PROGRAMS = {
  'gnome-keyring-daemon': 'gnome-keyring',
  'dbus-run-session': 'dbus',
  'dbus-send': 'dbus',
} as const

/**
 * The daemon runs in the foreground of a shell, so that its process is known. An empty line on its standard input is
 * the password: it makes the default collection, or opens it.
 */
const SCRIPT = `
echo "bus $DBUS_SESSION_BUS_ADDRESS"
if [ "$1" = locked ]; then
  gnome-keyring-daemon --foreground --components=secrets </dev/null >&2 &
else
  echo | gnome-keyring-daemon --foreground --unlock --components=secrets >&2 &
fi
echo "daemon $!"
ask() { dbus-send --session --print-reply --dest="$@" 2>/dev/null; }
# A question that came sooner would make the bus start a second one, which is locked.
until ask org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true
do sleep 0.05; done
# The name comes before the password has opened anything.
[ "$1" = locked ] || until ask org.freedesktop.secrets /org/freedesktop/secrets/aliases/default \
  org.freedesktop.DBus.Properties.Get string:org.freedesktop.Secret.Collection string:Locked | grep -q false
do sleep 0.05; done
echo "ready yes"
cat >/dev/null
`

/** Starts gnome-keyring; throws what to install where it is missing. */
export async function startSecretService(options: SecretServiceOptions = {}): Promise<SecretService> {
  const { state = 'unlocked', home = makeDirectory('keyring') } = options
  requirePrograms()
  const runtime = path.join(home, 'run')
  mkdirSync(runtime, { recursive: true, mode: 0o700 })
  const base = { HOME: home, XDG_RUNTIME_DIR: runtime, XDG_DATA_HOME: path.join(home, 'data') }
  const child = spawn('/usr/bin/env', ['dbus-run-session', '--', 'sh', '-c', SCRIPT, 'sh', state], {
    env: { PATH: process.env['PATH'], ...base },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const exited = exitOf(child)
  const output = { stdout: '', stderr: '' }
  child.stdin.on('error', () => undefined)
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => (output[stream] += text))
  const read = (word: string) => new RegExp(`^${word} (\\S+)$`, 'm').exec(output.stdout)?.[1]
  await waitUntil(
    () => read('ready'),
    20_000,
    () => `the Secret Service: ${output.stderr}`,
  )
  const pid = Number(read('daemon'))
  const bus = read('bus')
  if (bus === undefined) throw new Error(`The message bus has no address: ${output.stdout}`)
  const stop = async (): Promise<void> => {
    killQuietly(pid)
    child.stdin.end()
    await within(exited, 10_000, () => `the Secret Service to end: ${output.stderr}`)
  }
  return {
    env: { ...base, DBUS_SESSION_BUS_ADDRESS: bus },
    freeze: () => process.kill(pid, 'SIGSTOP'),
    thaw: () => process.kill(pid, 'SIGCONT'),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function requirePrograms(): void {
  const directories = (process.env['PATH'] ?? '').split(path.delimiter)
  const missing = Object.entries(PROGRAMS).filter(
    ([program]) => !directories.some((directory) => existsSync(path.join(directory, program))),
  )
  if (missing.length === 0) return
  const packages = [...new Set(missing.map(([, name]) => name))].join(' ')
  throw new Error(
    `The tests of the keychain need ${missing.map(([program]) => program).join(' and ')}. Install the Debian packages: ` +
      `apt-get install -y --no-install-recommends ${packages}`,
  )
}
