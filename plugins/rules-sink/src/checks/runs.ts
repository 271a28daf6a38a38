import { randomUUID } from 'node:crypto'
import type { RunningCheck } from '../types.ts'

/** Why a run was told to end. */
export type Ending = 'user' | 'session'

/** One sub-agent at work. */
export interface Run {
  readonly id: string
  readonly signal: AbortSignal
  /** Set once it was told to end. */
  readonly ending: Ending | undefined
  /** Gives its slot back. */
  close(): void
}

/** The sub-agents of this session: one counter for all of them. */
export interface Runs {
  readonly limit: number
  readonly inUse: number
  readonly isFull: boolean
  /** Takes a slot; nothing when none is free. */
  open(check: Omit<RunningCheck, 'startedAt'>): Run | undefined
  list(): readonly RunningCheck[]
  /** Ends those whose trace id begins so, or all. */
  abort(ref: string): { readonly aborted: readonly string[]; readonly error?: string }
  /** The session ends: every run is told to, and none begins. Resolves when all have, or after `withinMs`. */
  end(withinMs: number): Promise<void>
}

interface Entry {
  readonly check: RunningCheck
  readonly controller: AbortController
  ending: Ending | undefined
}

/** At most `limit` runs at once. */
export function createRuns(limit: number, onChange: () => void): Runs {
  const entries = new Map<string, Entry>()
  let ended = false
  let onEmpty: (() => void) | undefined
  const tell = (entry: Entry, ending: Ending): void => {
    entry.ending ??= ending
    entry.controller.abort()
  }
  return {
    limit,
    get inUse() {
      return entries.size
    },
    get isFull() {
      return ended || entries.size >= limit
    },
    open: (check) => {
      if (ended || entries.size >= limit) return undefined
      const id = randomUUID()
      const entry: Entry = {
        check: { ...check, startedAt: Date.now() },
        controller: new AbortController(),
        ending: undefined,
      }
      entries.set(id, entry)
      onChange()
      return {
        id,
        signal: entry.controller.signal,
        get ending() {
          return entry.ending
        },
        close: () => {
          if (!entries.delete(id)) return
          if (entries.size === 0) onEmpty?.()
          onChange()
        },
      }
    },
    list: () => [...entries.values()].map(({ check }) => check),
    abort: (ref) => {
      const trace = ref.trim()
      const found = [...entries.values()].filter(
        ({ check, ending }) => ending === undefined && (trace === 'all' || check.traceId.startsWith(trace)),
      )
      const traces = [...new Set(found.map(({ check }) => check.traceId))]
      if (trace === '') return { aborted: [], error: 'Say which run: its trace id, or the beginning of it.' }
      if (found.length === 0)
        return {
          aborted: [],
          error: trace === 'all' ? 'Nothing is running here.' : `Nothing runs here with trace id '${trace}'.`,
        }
      if (trace !== 'all' && traces.length > 1)
        return { aborted: [], error: `${traces.length} runs begin with '${trace}': ${traces.join(', ')}.` }
      for (const entry of found) tell(entry, 'user')
      return { aborted: traces }
    },
    end: async (withinMs) => {
      ended = true
      if (entries.size === 0) return
      const empty = new Promise<void>((resolve) => (onEmpty = resolve))
      for (const entry of entries.values()) tell(entry, 'session')
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs)
      })
      await Promise.race([empty, late])
      clearTimeout(timer)
    },
  }
}
