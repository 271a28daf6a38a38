import { readFileSync } from 'node:fs'
import type { Windows } from '@tapline/core'
import type { Owner } from './item.ts'

/** Of all processes that run on this machine now, this one's mark. */
export function selfOwner(windows: Windows | undefined, until: number): Owner {
  const start = startOf(process.pid)
  return {
    pid: process.pid,
    instance: windows?.self.instance ?? 'alone',
    ...(start === undefined ? {} : { start }),
    until,
  }
}

/** Whether two marks are of one session. */
export function isSameOwner(a: Owner | undefined, b: Owner): boolean {
  return a?.pid === b.pid && a.instance === b.instance && a.start === b.start
}

/**
 * Tells who is still at work. A process that is gone is not, nor is another one that has its pid. A session that has
 * left while its process lives on is trusted to be ending, until it must be done.
 */
export function livenessOf(windows: Windows | undefined): (owner: Owner) => boolean {
  const present = new Set((windows?.list() ?? []).map(({ pid, instance }) => `${pid} ${instance}`))
  return (owner) => {
    const here = present.has(`${owner.pid} ${owner.instance}`)
    if (owner.pid === process.pid) {
      const own = windows ? here : owner.instance === 'alone'
      return own && (owner.start === undefined || owner.start === startOf(process.pid))
    }
    if (!isRunning(owner.pid)) return false
    if (owner.start !== undefined && startOf(owner.pid) !== owner.start) return false
    return here || Date.now() < owner.until
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process began, in ticks since the machine did; undefined where the system does not say. */
function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold blanks and parentheses of its own.
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
    return Number.isSafeInteger(start) ? start : undefined
  } catch {
    return undefined
  }
}
