import { hash } from 'node:crypto'
import type { ExtensionAPI, ToolDefinition } from '@earendil-works/pi-coding-agent'
import type { ToolSpec } from '@tapline/core'
import type { CachedTool, EarlyTools } from '../cached-tools.ts'
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
  /**
   * Registers what is new or different, in order, declares what is direct all at once, and hides what is gone: pi
   * cannot forget a tool. In steps of one tool, each of which costs pi up to some milliseconds; left unfinished, the
   * next one does the rest.
   */
  apply(
    tools: readonly ToolSpec[],
    instructionsOf: (server: string) => string | undefined,
  ): Generator<void, void>
  /** A run begins: what pi has waited for until now, it waits for no longer. */
  runStarts(): void
  /** The definitions as they were last registered. */
  definitions(): readonly CachedTool[]
}

/** Of more tools that are gone pi is told first that it does not declare them: hiding each would cost as much. */
const FEW = 10

interface Registered {
  readonly definition: CachedTool
  /** See {@link signed}; of what the factory registered it is made when it is first compared. */
  signature?: string
  readonly hidden: boolean
}

/** A registry that starts with what was registered before the session; `refused` is told what pi did not take. */
export function createRegistry(
  pi: ExtensionAPI,
  early: Pick<EarlyTools, 'names' | 'definitions' | 'resumed'>,
  call: Call,
  refused: (name: string, thrown: unknown) => void = () => undefined,
): Registry {
  const registered = new Map<string, Registered>(
    early.definitions.map((definition) => [definition.name, { definition, hidden: false }]),
  )
  const others = new Map(pi.getAllTools().map(({ name, sourceInfo }) => [name, sourceInfo.source]))
  for (const name of early.names) others.delete(name)
  /**
   * Whether pi may wait for tools that a resumed conversation has declared: it forgets them when it is told to declare
   * another tool no more, and does not when that one is hidden.
   */
  let isWaitedFor = early.resumed === true
  /** What pi is to declare to the model, and not to declare any more, when all is registered. */
  const declaring = new Set<string>()
  const withdrawing = new Set<string>()

  const register = (definition: CachedTool, signature: string, hidden: boolean): void => {
    const shown = hidden ? { ...definition, exposure: 'hidden' as const } : definition
    // Whenever a tool is registered, pi describes all that it declares: new ones are declared together, in their order.
    pi.registerTool({ ...shown, defaultActive: false, execute: (...args) => call(definition.name, ...args) })
    registered.set(definition.name, { definition, signature, hidden })
  }
  const declare = (gone: readonly string[]): void => {
    const active = pi.getActiveTools()
    const out = new Set([...withdrawing, ...gone])
    if (declaring.size > 0 || active.some((name) => out.has(name)))
      pi.setActiveTools([...active.filter((name) => !out.has(name)), ...declaring])
    declaring.clear()
    withdrawing.clear()
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
    *apply(tools, instructionsOf) {
      const kept = new Set<string>()
      for (const spec of tools) {
        attempt(spec.name, () => {
          const definition = definitionOf(spec, instructionsOf(spec.server.name))
          const signature = signed(definition)
          const { name } = definition
          kept.add(name)
          const earlier = registered.get(name)
          if (earlier && !earlier.hidden && signatureOf(earlier) === signature) return
          const wasDirect = earlier?.hidden === false && earlier.definition.exposure === 'direct'
          const isDirect = definition.exposure === 'direct'
          if (wasDirect && !isDirect && isWaitedFor) register(definition, signature, true)
          register(definition, signature, false)
          for (const set of [declaring, withdrawing]) set.delete(name)
          if (isDirect && !wasDirect) declaring.add(name)
          if (wasDirect && !isDirect && !isWaitedFor) withdrawing.add(name)
        })
        yield
      }
      const gone = [...registered].filter(([name, { hidden }]) => !hidden && !kept.has(name))
      declare(gone.length > FEW && !isWaitedFor ? gone.map(([name]) => name) : [])
      yield
      for (const [name, entry] of gone) {
        attempt(name, () => register(entry.definition, signatureOf(entry), true))
        yield
      }
    },
    runStarts: () => {
      isWaitedFor = false
    },
    definitions: () =>
      [...registered.values()].flatMap(({ definition, hidden }) => (hidden ? [] : [definition])),
  }
}

function signatureOf(entry: Registered): string {
  entry.signature ??= signed(entry.definition)
  return entry.signature
}

/** Tells definitions apart: their JSON would be kept a second time, and some servers have a thousand tools. */
function signed(definition: CachedTool): string {
  return hash('sha256', JSON.stringify(definition), 'base64')
}

/** Whether a cache would have it registered before all others: their order is the same without one. */
export function comesFromFactory({ name, server }: ToolSpec): boolean {
  return name.startsWith('mcp__') && server.dialect === 'mcp.json' && server.source.scope === 'user'
}
