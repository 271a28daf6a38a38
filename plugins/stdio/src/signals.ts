import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'

const WINDOWS = process.platform === 'win32'

/** Whether the group still has a process. Only a clear "no such group" counts as no. */
export function groupExists(group: number): boolean {
  try {
    process.kill(WINDOWS ? group : -group, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/**
 * Whether a process of an existing group still runs. Zombies do not: where nobody collects orphans, as in
 * many containers, a group exists for as long as the container does.
 */
export async function groupRuns(group: number): Promise<boolean> {
  if (process.platform !== 'linux') return true
  for (const name of await readdir('/proc')) {
    if (!/^\d/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')
    // proc(5): state, parent and group follow the name in parentheses, which may itself hold any character.
    const [state = 'X', , its] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3)
    if (Number(its) === group && !'ZX'.includes(state)) return true
  }
  return false
}

/** Sends a signal to every process of the group, and never fails. On Windows: to the tree, where only force works. */
export function signalGroup(group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  // kill(-1) would reach every process of this user.
  if (!Number.isSafeInteger(group) || group <= 1) return
  if (WINDOWS) {
    if (signal === 'SIGKILL')
      spawnSync('taskkill', ['/PID', String(group), '/T', '/F'], { stdio: 'ignore', windowsHide: true })
    return
  }
  try {
    process.kill(-group, signal)
  } catch {
    // It is gone, which is what was wanted, or it belongs to another user by now.
  }
}
