import type { ServerTool, ToolSpec } from '@tapline/core'

/** What was registered for a tool. */
export type Registered = Omit<ToolSpec, 'server' | 'serverTool' | 'hidden'>

/** A tool as the cache keeps it. */
export interface CachedTool {
  readonly serverTool: ServerTool
  /** Absent for a tool that was set aside. */
  readonly registered?: Registered
}

/* What a tool has in common with what was registered for it stands once in the file: `true` refers to it. */
const SHARED = [
  ['description', 'description'],
  ['inputSchema', 'parameters'],
  ['outputSchema', 'outputSchema'],
] as const

const NAME = /^[A-Za-z0-9_-]{1,64}$/
const EXPOSURES = new Set<unknown>(['codemode', 'deferred', 'direct', 'hidden'])

/** One server's tools as one line of JSON. */
export function packTools(tools: readonly CachedTool[]): string {
  return JSON.stringify(
    tools.map(({ serverTool, registered }) => {
      if (!registered) return [serverTool]
      const tool: Record<string, unknown> = { ...serverTool }
      for (const [sent, own] of SHARED)
        if (tool[sent] !== undefined && tool[sent] === registered[own]) tool[sent] = true
      return [tool, registered]
    }),
  )
}

/** The tools in such a line, or undefined when it is none. */
export function unpackTools(line: string): readonly CachedTool[] | undefined {
  try {
    const stored: unknown = JSON.parse(line)
    return Array.isArray(stored) ? stored.map(unpackTool) : undefined
  } catch {
    return undefined
  }
}

function unpackTool(entry: unknown): CachedTool {
  if (!Array.isArray(entry)) throw new TypeError('not a tool')
  const [sent, registered] = entry as readonly unknown[]
  if (!isRecord(sent) || typeof sent['name'] !== 'string') throw new TypeError('not a tool')
  if (registered === undefined) return { serverTool: sent as unknown as ServerTool }
  if (!isRegistered(registered)) throw new TypeError('not a registered tool')
  const serverTool: Record<string, unknown> = { ...sent }
  for (const [key, own] of SHARED)
    if (serverTool[key] === true && registered[own] !== undefined) serverTool[key] = registered[own]
  return { serverTool: serverTool as unknown as ServerTool, registered }
}

function isRegistered(value: unknown): value is Registered {
  if (!isRecord(value) || !isRecord(value['parameters']) || !EXPOSURES.has(value['exposure'])) return false
  const { name, label, description } = value
  return (
    typeof name === 'string' &&
    NAME.test(name) &&
    typeof label === 'string' &&
    typeof description === 'string'
  )
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
