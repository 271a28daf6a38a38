import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'

/** A holder that cannot be looked at says this often that it is still there. */
export const BEAT_MS = 5_000
/** One that has not been heard of for this long is gone. */
const LOST_MS = 20_000

/** Who delivers what a pending claim stands for. Written into the file beside the claim. */
export interface Holder {
  readonly pid: number
  /** Boot, pid namespace and start time of the process, where the system tells: no two processes share it. */
  readonly started?: string
  /** Tells windows of one process apart. */
  readonly instance: string
}

/** The windows of this process: sessions come and go while the process stays. */
const instances = new Set<string>()

/** A holder of this process, alive until {@link leave}. */
export function enter(): Holder {
  const started = startOf(process.pid)
  const instance = randomUUID().slice(0, 8)
  instances.add(instance)
  return { pid: process.pid, ...(started === undefined ? {} : { started }), instance }
}

/** What this holder has not settled by now is free. */
export function leave({ instance }: Holder): void {
  instances.delete(instance)
}

/** Whether the holder that wrote these fields is still there. What cannot be looked at counts by its last beat. */
export function isAlive(fields: Readonly<Record<string, unknown>>, now: number): boolean {
  const { pid, started, instance, beat } = fields
  const isFresh = typeof beat === 'number' && Math.abs(now - beat) < LOST_MS
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return isFresh
  if (typeof started === 'string') {
    if (!started.startsWith(`${place()}/`)) return isFresh
    return startOf(pid) === started && (pid !== process.pid || instances.has(String(instance)))
  }
  if (pid === process.pid) return instances.has(String(instance))
  return isFresh && exists(pid)
}

let known: string | undefined

/** Where pids mean the same as here: this boot of this machine, this pid namespace. */
function place(): string {
  known ??= [
    quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)),
    quietly(() => readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')),
  ].join('/')
  return known
}

/** Undefined where there is no such process, where it has ended, and where the system does not tell. */
function startOf(pid: number): string | undefined {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  // The name of the program stands in brackets and may hold anything.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields[18]
  return ticks === undefined || state === 'Z' || state === 'X' ? undefined : `${place()}/${ticks}`
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function quietly(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
