import { readFileSync } from 'node:fs'
import type { ExtensionAPI, ToolDefinition } from '@earendil-works/pi-coding-agent'
import type { ToolSpec } from '@tapline/core'
import { agentDirectory, type CachedTool, type FactoryCache, factoryCachePath } from '../cached-tools.ts'
import { definitionOf } from './definition.ts'

type Call = (
  name: string,
  ...call: Parameters<ToolDefinition['execute']>
) => ReturnType<ToolDefinition['execute']>

/** What Tapline has registered with pi in this session. */
export interface Registry {
  /** Whether a tool that is not Tapline's has this name. */
  taken(name: string): boolean
  /** Whether that tool belongs to another extension, and not to pi itself. */
  takenByExtension(name: string): boolean
  /** Whether a tool of this name was registered, by the factory too. */
  isOwn(name: string): boolean
  /** The server that a registered tool belongs to, also of one that is hidden now. */
  serverOf(name: string): string | undefined
  /** Registers what is new or different, in order, and hides what is gone: pi cannot forget a tool. */
  apply(tools: readonly ToolSpec[], instructionsOf: (server: string) => string | undefined): void
  /** The definitions as they were last registered. */
  definitions(): readonly CachedTool[]
}

/** A registry that starts with what the factory registered from the cache; `refused` is told what pi did not take. */
export function createRegistry(
  pi: ExtensionAPI,
  cachedNames: ReadonlySet<string>,
  call: Call,
  refused: (name: string, thrown: unknown) => void = () => undefined,
): Registry {
  const registered = new Map<
    string,
    { readonly definition: CachedTool; readonly signature: string; readonly hidden: boolean }
  >()
  for (const definition of readCached()) {
    if (cachedNames.has(definition.name))
      registered.set(definition.name, { definition, signature: JSON.stringify(definition), hidden: false })
  }
  const others = new Map(pi.getAllTools().map(({ name, sourceInfo }) => [name, sourceInfo.source]))
  for (const name of cachedNames) others.delete(name)

  const register = (definition: CachedTool, signature: string, hidden: boolean): void => {
    const shown = hidden ? { ...definition, exposure: 'hidden' as const } : definition
    pi.registerTool({ ...shown, execute: (...args) => call(definition.name, ...args) })
    registered.set(definition.name, { definition, signature, hidden })
  }
  /** One bad tool never stops the rest. */
  const attempt = (name: string, work: () => void): void => {
    try {
      work()
    } catch (thrown) {
      refused(name, thrown)
    }
  }
  return {
    taken: (name) => others.has(name) && !registered.has(name),
    takenByExtension: (name) => (others.get(name) ?? 'builtin') !== 'builtin',
    isOwn: (name) => registered.has(name),
    serverOf: (name) => registered.get(name)?.definition.namespace?.aliases?.[0],
    apply: (tools, instructionsOf) => {
      const kept = new Set<string>()
      const indirect = new Set<string>()
      for (const spec of tools) {
        attempt(spec.name, () => {
          const definition = definitionOf(spec, instructionsOf(spec.server.name))
          const signature = JSON.stringify(definition)
          kept.add(definition.name)
          const earlier = registered.get(definition.name)
          if (!earlier || earlier.hidden || earlier.signature !== signature)
            register(definition, signature, false)
          if (earlier?.definition.exposure === 'direct' && definition.exposure !== 'direct')
            indirect.add(definition.name)
        })
      }
      // pi declares a new direct tool by itself, and never takes one back.
      if (indirect.size > 0) pi.setActiveTools(pi.getActiveTools().filter((name) => !indirect.has(name)))
      for (const [name, { definition, signature, hidden }] of registered)
        if (!hidden && !kept.has(name)) attempt(name, () => register(definition, signature, true))
    },
    definitions: () =>
      [...registered.values()].flatMap(({ definition, hidden }) => (hidden ? [] : [definition])),
  }
}

/** Whether a cache would have it registered before all others: their order is the same without one. */
export function comesFromFactory({ name, server }: ToolSpec): boolean {
  return name.startsWith('mcp__') && server.dialect === 'mcp.json' && server.source.scope === 'user'
}

function readCached(): readonly CachedTool[] {
  try {
    const { tools } = JSON.parse(readFileSync(factoryCachePath(agentDirectory()), 'utf8')) as FactoryCache
    return Array.isArray(tools) ? tools : []
  } catch {
    return []
  }
}
