import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatMessage, Trigger, WindowRecord } from '@tapline/core'

/** The folder of the loops directory in which each window says what waits there for a turn. */
export const TURNS_FOLDER = 'tapline-turns'

/** An event that waits, and the project that it belongs to. */
export interface WaitingEvent {
  readonly waits: Trigger
  readonly cwd: string
}

/** A line of a journal: an event that waits, or the trace ids of some that wait no longer. */
export type JournalLine = WaitingEvent | { readonly taken: readonly string[] }

/** What a journal says. */
export interface JournalContent {
  /** In the order in which they came. */
  readonly waiting: readonly WaitingEvent[]
  /** The trace ids of all events that it names, those that wait no longer included. */
  readonly ids: ReadonlySet<string>
}

/** Whose journal it is. */
export type JournalOwner = Pick<WindowRecord, 'pid' | 'instance'>

/** Where a window has its journal, and where that is from the moment on in which another one takes it over. */
export function journalPaths(loopsDir: string, { pid, instance }: JournalOwner) {
  const path = join(loopsDir, TURNS_FOLDER, `${pid}-${instance}`)
  return { journal: `${path}.jsonl`, taken: `${path}.taken` }
}

/** The owner of a file of that folder; undefined for what is no journal. */
export function ownerOf(name: string): JournalOwner | undefined {
  const [, pid, instance] = /^([1-9]\d{0,9})-(.+)\.(?:jsonl|taken)$/.exec(name) ?? []
  return pid === undefined || instance === undefined ? undefined : { pid: Number(pid), instance }
}

/** What the inbox is handed of a message: the event that it is about, or what it says. */
export function eventOf({ trigger, text, traceId, server, method }: ChatMessage): Trigger {
  return (
    trigger ?? {
      kind: 'trigger',
      traceId,
      source: server,
      server,
      method,
      key: traceId,
      replacement: 'drop',
      summary: text,
      receivedAt: Date.now(),
    }
  )
}

/** Undefined where there is none. A line that cannot be read was never whole. Throws what the file system says. */
export function readJournal(path: string): JournalContent | undefined {
  if (!existsSync(path)) return undefined
  const waiting = new Map<string, WaitingEvent>()
  const ids = new Set<string>()
  for (const line of linesOf(readFileSync(path, 'utf8'))) {
    if ('taken' in line) for (const id of line.taken) waiting.delete(id)
    else waiting.set(line.waits.traceId, line)
    for (const id of 'taken' in line ? line.taken : [line.waits.traceId]) ids.add(id)
  }
  return { waiting: [...waiting.values()], ids }
}

function linesOf(text: string): readonly JournalLine[] {
  return text.split('\n').flatMap((line) => {
    try {
      const parsed = JSON.parse(line) as unknown
      return isLine(parsed) ? [parsed] : []
    } catch {
      return []
    }
  })
}

function isLine(parsed: unknown): parsed is JournalLine {
  if (typeof parsed !== 'object' || parsed === null) return false
  const { taken, waits, cwd } = parsed as { taken?: unknown; waits?: Partial<Trigger> | null; cwd?: unknown }
  if (Array.isArray(taken)) return true
  const texts = [waits?.traceId, waits?.source, waits?.server, waits?.method, waits?.key, waits?.summary, cwd]
  return waits?.kind === 'trigger' && texts.every((text) => typeof text === 'string')
}
