import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type HostPaths, type ServerSpec, writeAtomically } from '@tapline/core'
import { builtInPlugins, connectionOf, type Server, SETTINGS_FILES, type Tapline } from '@tapline/headless'
import { cacheableTools, fingerprint, toolCache, type ToolListing } from '@tapline/tools'
import { type CachedTool, type FactoryCache, factoryCachePath, factoryFingerprint } from '../cached-tools.ts'

const WRITE_AFTER_MS = 500

/** What is remembered of tools from one session to the next. */
export interface ToolMemory {
  /** The tools of a server with exactly this entry, as it last listed them. */
  listingOf(spec: ServerSpec): ToolListing | undefined
  /** What a server said last: in this session, or before it has connected, in an earlier one. */
  instructionsOf(server: string): string | undefined
  /** Keeps what is listed and registered now, in a moment. */
  remember(definitions: readonly CachedTool[]): void
  /** Writes what is still to be kept. */
  close(): Promise<void>
}

/** The memory in `<agent dir>/tapline`: every server's tools, and apart those that the factory may register. */
export function toolMemory(
  { agentDir, cwd }: Pick<HostPaths, 'agentDir' | 'cwd'>,
  tapline: Tapline,
): ToolMemory {
  const cache = toolCache(join(agentDir, 'tapline', 'tools.json'))
  const keyOf = (spec: ServerSpec): string =>
    fingerprint(connectionOf(spec), tapline.kernel.plugins, [versionOfThis()])
  const known = cache.read(new Map(tapline.servers.map(({ spec }) => [spec.name, keyOf(spec)])))
  const earlier = readInstructions(factoryCachePath(agentDir))
  const heard = new WeakMap<Server, string | undefined>()
  // Files that are gone when the cache is written may have been read all the same.
  const inProject = hasProjectFiles(agentDir, cwd)
  let timer: NodeJS.Timeout | undefined
  let latest: readonly CachedTool[] = []
  let written = ''

  const hear = (): void => {
    for (const server of tapline.servers) {
      const { state, instructions } = server.session.status
      if (state === 'connected') heard.set(server, instructions)
      else if (server.listed && !heard.has(server)) heard.set(server, undefined)
    }
  }
  const write = async (): Promise<void> => {
    timer = undefined
    try {
      const list = tapline.catalogue.list()
      await cache.write(
        tapline.servers
          .filter(({ listed, spec }) => listed && spec.enabled)
          .map(({ spec }) => ({
            server: spec.name,
            fingerprint: keyOf(spec),
            tools: cacheableTools(list, spec.name),
          })),
      )
      // Elsewhere the user's servers may be others, and so may the names of their tools.
      if (inProject || hasProjectFiles(agentDir, cwd) || tapline.servers.some(isOfProject)) return
      const factory = JSON.stringify(factoryCacheOf(agentDir, tapline, latest, heard))
      if (factory !== written) writeAtomically(factoryCachePath(agentDir), factory)
      written = factory
    } catch {
      // Without a cache the next start is slower, no more.
    }
  }
  return {
    listingOf: (spec) => {
      const tools = known.get(spec.name)
      return tools && { tools: tools.map(({ serverTool }) => serverTool), problems: [] }
    },
    instructionsOf: (name) => {
      hear()
      const server = tapline.server(name)
      if (!server) return undefined
      if (heard.has(server)) return heard.get(server)
      return isEarly(server.spec) && Object.hasOwn(earlier, name) ? earlier[name] : undefined
    },
    remember: (definitions) => {
      hear()
      latest = definitions
      if (!tapline.servers.some(({ listed }) => listed)) return
      timer ??= setTimeout(() => void write(), WRITE_AFTER_MS)
    },
    close: async () => {
      if (timer === undefined) return
      clearTimeout(timer)
      await write()
    },
  }
}

/**
 * What may be registered before trust and third-party plugins are known: `mcp__` tools of user-level
 * servers of mcp.json, and none when another plugin has a say in what tools are.
 */
function factoryCacheOf(
  agentDir: string,
  tapline: Tapline,
  definitions: readonly CachedTool[],
  heard: Pick<WeakMap<Server, string | undefined>, 'get'>,
): FactoryCache & { instructions: Record<string, string> } {
  const own = new Set(builtInPlugins().map(({ name }) => name))
  const foreign = tapline.kernel.hooks.registerTool.taps.some(({ name }) => !own.has(name))
  const early = tapline.servers.filter(({ spec }) => isEarly(spec))
  const names = new Set(early.map(({ spec }) => spec.name))
  const tools = foreign
    ? []
    : definitions
        .filter((tool) => tool.name.startsWith('mcp__') && names.has(tool.namespace?.aliases?.[0] ?? ''))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const instructions: Record<string, string> = {}
  for (const server of early) {
    const text = heard.get(server)
    if (text !== undefined) instructions[server.spec.name] = text
  }
  const complete = !foreign && early.every(({ listed }) => listed)
  return { fingerprint: factoryFingerprint(agentDir), tools, complete, instructions }
}

function isEarly({ enabled, dialect, source }: ServerSpec): boolean {
  return enabled && dialect === 'mcp.json' && source.scope === 'user' && source.override === undefined
}

function isOfProject({ spec: { source } }: Server): boolean {
  return source.scope === 'project' || source.override !== undefined
}

/** Whether a project has a say in this session, or might have. */
export function hasProjectFiles(agentDir: string, cwd: string): boolean {
  const directory = resolve(cwd, '.pi')
  if (directory === resolve(agentDir)) return false
  return ['mcp.json', 'mcp.toml', ...SETTINGS_FILES].some((name) => existsSync(join(directory, name)))
}

function readInstructions(path: string): Readonly<Record<string, string>> {
  try {
    const { instructions } = JSON.parse(readFileSync(path, 'utf8')) as {
      instructions?: Record<string, string>
    }
    return instructions ?? {}
  } catch {
    return {}
  }
}

function versionOfThis(): string {
  return createHash('sha256')
    .update(readFileSync(new URL('../../package.json', import.meta.url)))
    .digest('hex')
    .slice(0, 16)
}
