import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  createProjects,
  type HostPaths,
  type WindowRecord,
  type Windows,
  writeAtomically,
} from '@tapline/core'

/** How often a session says that it is there, in milliseconds. */
const HEARTBEAT_MS = 30_000
/** A record that is older, or from further in the future, is nobody's. */
const STALE_MS = 90_000

/** The presence of this session among those of this machine. */
export interface Presence extends Windows {
  /** Says that the session is about to end. */
  end(): void
  /** The session is over: others no longer see it. */
  leave(): void
}

/** What {@link joinWindows} takes. */
export interface PresenceOptions {
  readonly paths: HostPaths
  readonly kind: WindowRecord['kind']
  readonly sessionId?: string
}

/** Says in `<loops dir>/presence` that this session is there, and reads there who else is. */
export function joinWindows({ paths, kind, sessionId }: PresenceOptions): Presence {
  const directory = join(paths.loopsDir, 'presence')
  const projects = createProjects(paths.home)
  let leaving = false
  const record = (): WindowRecord => ({
    pid: process.pid,
    instance,
    ...(sessionId === undefined ? {} : { sessionId }),
    cwd: projects.real(paths.cwd),
    kind,
    heartbeatAt: new Date().toISOString(),
    ...(leaving ? { leaving } : {}),
  })
  const instance = randomUUID().slice(0, 8)
  const self = record()
  const path = join(directory, `${process.pid}-${instance}.json`)
  const beat = (): void => {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      writeAtomically(path, `${JSON.stringify(record())}\n`)
    } catch {
      // Read-only or full: this session then counts itself alone.
    }
  }
  beat()
  const timer = setInterval(beat, HEARTBEAT_MS)
  timer.unref()

  const list = (): readonly WindowRecord[] => {
    const others = recordsIn(directory).filter((other) => other.instance !== instance)
    return [self, ...others].toSorted((a, b) => a.pid - b.pid || (a.instance < b.instance ? -1 : 1))
  }
  const leader = (): WindowRecord => {
    const all = list()
    return all.find((window) => window.kind === 'interactive') ?? all[0] ?? self
  }
  return {
    self,
    list,
    leader,
    ownerOf: (cwd, session) => {
      const all = list().filter((window) => window.kind === 'interactive')
      const creator = session === undefined ? undefined : all.find((window) => window.sessionId === session)
      return creator ?? all.find((window) => projects.holds(cwd, window.cwd)) ?? leader()
    },
    isSelf: (other) => other.pid === self.pid && other.instance === instance,
    end: () => {
      leaving = true
      beat()
    },
    leave: () => {
      clearInterval(timer)
      remove(path)
    },
  }
}

/** The records of those that are there. What the dead have left is removed: nobody else would ever do it. */
function recordsIn(directory: string): readonly WindowRecord[] {
  let names: readonly string[]
  try {
    names = readdirSync(directory).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
  return names.flatMap((name) => {
    const path = join(directory, name)
    const record = readRecord(path)
    if (record !== undefined && isFresh(Date.parse(record.heartbeatAt)) && isAlive(record.pid))
      return [record]
    // Whoever lives writes its own anew. What cannot be understood is given time: it may be of a newer version.
    if (record !== undefined || !isFresh(writtenAt(path))) remove(path)
    return []
  })
}

/** Undefined where it is none, or does not say when it was written. */
function readRecord(path: string): WindowRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8')) as WindowRecord
    const whole =
      Number.isSafeInteger(record.pid) &&
      record.pid > 0 &&
      typeof record.instance === 'string' &&
      typeof record.cwd === 'string' &&
      (record.kind === 'interactive' || record.kind === 'host') &&
      !Number.isNaN(Date.parse(record.heartbeatAt))
    return whole ? record : undefined
  } catch {
    return undefined
  }
}

function isFresh(at: number): boolean {
  return Math.abs(Date.now() - at) < STALE_MS
}

function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
}

/** A record that cannot be removed grows old by itself. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Read-only, or no directory at all.
  }
}

/** Whether there is a process of this number, whoever's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}
