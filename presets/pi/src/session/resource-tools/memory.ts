import { type ServerSpec, writeAtomically } from '@tapline/core'
import { connectionOf } from '@tapline/headless'
import { fingerprint } from '@tapline/tools'
import { type CachedTool, factoryFingerprint } from '../../cached-tools.ts'
import { readResourceFile, type ResourceFile, resourceFilePath } from '../../resource-tools.ts'

/** Entries that are remembered; the ones used longest ago are forgotten first. */
const MOST_ENTRIES = 500

/** Which servers offer resources, from one session to the next: tools are there before their servers are. */
export interface ResourceMemory {
  /** Whether a server with this entry offered resources when it was last connected. */
  offered(spec: ServerSpec): boolean
  /** Keeps what a server with this entry offers now. */
  note(spec: ServerSpec, offers: boolean): void
  /** Keeps what the next session may register before it is there: the tools, or that there are none. */
  noteEarly(tools: readonly CachedTool[] | undefined): void
  /** What this session may have registered so. */
  readonly early: readonly CachedTool[]
}

/** The memory in `<agent dir>/tapline`. Without it the next start is told of resources later, no more. */
export function resourceMemory(agentDir: string, plugins: readonly string[]): ResourceMemory {
  const keyOf = (spec: ServerSpec): string => fingerprint(connectionOf(spec), plugins, [])
  const atStart = readResourceFile(agentDir)
  const known = new Set(atStart.offering)
  const noted = new Map<string, boolean>()

  /** Other processes write too: theirs is kept. */
  const change = (next: (file: ResourceFile) => ResourceFile): void => {
    try {
      const file = readResourceFile(agentDir)
      const changed = JSON.stringify(next(file))
      if (changed !== JSON.stringify(file)) writeAtomically(resourceFilePath(agentDir), changed)
    } catch {
      // A directory that cannot be written to is told of elsewhere.
    }
  }
  return {
    early: atStart.early?.tools ?? [],
    offered: (spec) => known.has(keyOf(spec)),
    note: (spec, offers) => {
      const key = keyOf(spec)
      if (noted.get(key) === offers) return
      noted.set(key, offers)
      if (known.has(key) === offers) return
      if (offers) known.add(key)
      else known.delete(key)
      change(({ offering, ...rest }) => {
        const others = offering.filter((other) => other !== key)
        return { offering: [...others, ...(offers ? [key] : [])].slice(-MOST_ENTRIES), ...rest }
      })
    },
    noteEarly: (tools) =>
      change(({ offering }) => ({
        offering,
        ...(tools ? { early: { fingerprint: factoryFingerprint(agentDir), tools } } : {}),
      })),
  }
}
