import type { ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** One row of the process table. */
export interface ProcessEntry {
  readonly pid: number
  readonly ppid: number
  readonly pgid: number
  readonly sid: number
  readonly state: string
  readonly cmdline: string
}

/** The processes of this machine as /proc shows them now, zombies included (their state is `Z`). */
export function processTable(): ProcessEntry[] {
  const entries: ProcessEntry[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // The command name may hold blanks and brackets, so the fields are counted from its last bracket.
      const [state = '', ppid, pgid, sid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const cmdline = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      entries.push({
        pid: Number(name),
        ppid: Number(ppid),
        pgid: Number(pgid),
        sid: Number(sid),
        state,
        cmdline,
      })
    } catch {
      // It ended while the table was read.
    }
  }
  return entries
}

const lives = (entry: ProcessEntry) => entry.state !== 'Z' && entry.state !== 'X'

/** Whether any process of the group still runs; zombies do not count. */
export function groupAlive(pgid: number): boolean {
  return processTable().some((entry) => entry.pgid === pgid && lives(entry))
}

/** Whether the process still runs; a zombie does not count. */
export function processAlive(pid: number): boolean {
  return processTable().some((entry) => entry.pid === pid && lives(entry))
}

/** The running children of a process, and theirs, parents first. */
export function descendants(pid: number): ProcessEntry[] {
  const table = processTable().filter(lives)
  const found: ProcessEntry[] = []
  for (let parents = [pid]; parents.length > 0;) {
    const children = table.filter((entry) => parents.includes(entry.ppid))
    found.push(...children)
    parents = children.map((entry) => entry.pid)
  }
  return found
}

/** The running processes, but this one, whose environment or command line holds a text such as a directory. */
export function processesNaming(text: string): ProcessEntry[] {
  return processTable().filter((entry) => {
    if (entry.pid === process.pid || !lives(entry)) return false
    if (entry.cmdline.includes(text)) return true
    try {
      return readFileSync(`/proc/${entry.pid}/environ`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}

/** Asks again and again until the answer is truthy, which it returns; throws with `what` after `ms`. */
export async function waitUntil<T>(
  ask: () => T | Promise<T>,
  ms = 10_000,
  what: string | (() => string) = 'the condition',
): Promise<NonNullable<T>> {
  const deadline = performance.now() + ms
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 50)) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > deadline)
      throw new Error(`Waited ${ms} ms for ${typeof what === 'string' ? what : what()}`)
    await sleep(pause)
  }
}

/** The promise's answer, or an error naming `what` after `ms`. */
export function within<T>(promise: Promise<T>, ms: number, what: () => string): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${ms} ms for ${what()}`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Kills a process, ignoring that it may have ended; a negative id means the group. */
export function killQuietly(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void {
  // 0, 1 and -1 mean this process's own group, init, and everything.
  if (pid === undefined || Math.abs(pid) <= 1) return
  try {
    process.kill(pid, signal)
  } catch {
    // Already gone.
  }
}

/** How a child ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * Resolves when the child has ended, or could not be started, and all its output has been read. A grandchild
 * that holds the pipes open delays it by half a second.
 */
export function exitOf(child: ChildProcess): Promise<Exit> {
  const { promise, resolve } = Promise.withResolvers<Exit>()
  child.once('close', (code, signal) => resolve({ code, signal }))
  child.once('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), 500).unref())
  child.once('error', () => resolve({ code: null, signal: null }))
  return promise
}
