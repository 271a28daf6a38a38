import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { signalGroup } from './signals.ts'

/**
 * Outlives the host and learns of its death from its own standard input, which then ends, however the host
 * died. POSIX sh, because it costs a megabyte where another Node costs forty. A line cut short by the host's
 * death is not acted on, since `read` fails on it.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM
groups=
while read -r verb group; do
  rest=
  for g in $groups; do [ "$g" = "$group" ] || rest="$rest $g"; done
  groups=$rest
  [ "$verb" = - ] || groups="$groups $group"
done
signal() { for g in $groups; do kill -s "$1" -- "-$g" 2>/dev/null; done; }
left() {
  rest=
  for g in $groups; do kill -s 0 -- "-$g" 2>/dev/null && rest="$rest $g"; done
  groups=$rest
  [ -n "$groups" ]
}
left || exit 0
signal TERM
for step in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  left || exit 0
  sleep 0.1 || sleep 1
done
signal KILL
`

/** Knows the process groups of this process's servers and has them ended when this process ends. */
export interface Keeper {
  /** From now on the group does not outlive this process. */
  watch(group: number): void
  /** The group is gone; its number may soon be another's. */
  forget(group: number): void
  readonly groups: ReadonlySet<number>
  /** The process id of the reaper, while there is one. */
  readonly reaper: number | undefined
}

const KEY = Symbol.for('tapline.stdio.keeper.1')

/** The one keeper of this process, shared by every copy of this module. */
export function keeper(): Keeper {
  const shared = globalThis as { [KEY]?: Keeper }
  return (shared[KEY] ??= createKeeper())
}

function createKeeper(): Keeper {
  const groups = new Set<number>()
  let reaper: ChildProcess | undefined
  const tell = (line: string): void => void reaper?.stdin?.write(line)
  const start = (): void => {
    const child = spawnReaper()
    if (child === undefined) return
    const lost = (): void => {
      if (reaper === child) reaper = undefined
    }
    child.once('error', lost)
    child.once('exit', lost)
    child.stdin?.on('error', lost)
    reaper = child
    tell([...groups, ''].map((group) => (group === '' ? '' : `+ ${group}\n`)).join(''))
  }
  process.on('exit', () => {
    // With a reaper servers get its grace; without one nobody would end those that ignore SIGTERM.
    for (const group of groups) signalGroup(group, reaper ? 'SIGTERM' : 'SIGKILL')
  })
  return {
    watch(group) {
      groups.add(group)
      if (reaper) tell(`+ ${group}\n`)
      else start()
    },
    forget(group) {
      if (!groups.delete(group)) return
      tell(`- ${group}\n`)
      if (groups.size > 0) return
      reaper?.stdin?.end()
      reaper = undefined
    },
    groups,
    get reaper() {
      return reaper?.pid
    },
  }
}

/** A session of its own keeps terminal signals and kills of the host's group away from it. */
function spawnReaper(): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  try {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'tapline-reaper'], {
      cwd: '/',
      detached: true,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.unref()
    ;(child.stdin as Socket).unref()
    return child
  } catch {
    // A server without a reaper is better than none; the exit handler is still there.
    return undefined
  }
}
