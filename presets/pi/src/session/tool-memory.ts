import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { HostPaths, ServerSpec } from '@tapline/core'
import { builtInPlugins, connectionOf, type Server, SETTINGS_FILES, type Tapline } from '@tapline/headless'
import {
  cacheableTools,
  type CacheEntry,
  fingerprint,
  replaceFile,
  toolCache,
  type ToolList,
  type ToolListing,
} from '@tapline/tools'
import {
  type CachedTool,
  type EarlyTools,
  type FactoryFile,
  factoryCachePath,
  factoryFingerprint,
  packed,
} from '../cached-tools.ts'

const WRITE_AFTER_MS = 500

/** What a session has come to know of tools. */
export interface KnownTools {
  /** As they are registered. */
  readonly definitions: readonly CachedTool[]
  /** The list that they are of. */
  readonly list: Pick<ToolList, 'tools' | 'setAside'>
  /** The servers that had been listed when it was made. */
  readonly listed: ReadonlySet<Server>
}

/** What is remembered of tools from one session to the next. */
export interface ToolMemory {
  /** The tools of a server with exactly this entry, as it last listed them. */
  listingOf(spec: ServerSpec): ToolListing | undefined
  /** What a server said last: in this session, or before it has connected, in an earlier one. */
  instructionsOf(server: string): string | undefined
  /** Keeps these, in a moment. */
  remember(known: KnownTools): void
  /** Writes what is still to be kept. */
  close(): Promise<void>
}

/**
 * The memory in `<agent dir>/tapline`: every server's tools, and apart those that the factory may register. `earlier`
 * is what servers said of themselves in an earlier session.
 */
export function toolMemory(
  { agentDir, cwd }: Pick<HostPaths, 'agentDir' | 'cwd'>,
  tapline: Tapline,
  earlier: EarlyTools['instructions'],
): ToolMemory {
  const cache = toolCache(join(agentDir, 'tapline', 'tools.json'))
  const version = versionOfThis()
  const keyOf = (spec: ServerSpec): string =>
    fingerprint(connectionOf(spec), tapline.kernel.plugins, [version])
  const known = cache.read(new Map(tapline.servers.map(({ spec }) => [spec.name, keyOf(spec)])))
  const heard = new WeakMap<Server, string | undefined>()
  // Files that are gone when the cache is written may have been read all the same.
  const inProject = hasProjectFiles(agentDir, cwd)
  let timer: NodeJS.Timeout | undefined
  let latest: KnownTools | undefined
  let writing: Promise<void> = Promise.resolve()

  const hear = (): void => {
    for (const server of tapline.servers) {
      const { state, instructions } = server.session.status
      if (state === 'connected') heard.set(server, instructions)
      else if (server.listed && !heard.has(server)) heard.set(server, undefined)
    }
  }
  const write = async ({ list, listed, definitions }: KnownTools): Promise<void> => {
    try {
      const entries: CacheEntry[] = []
      for (const server of tapline.servers) {
        const { name, enabled } = server.spec
        if (!listed.has(server) || !enabled) continue
        const tools = cacheableTools(list, name)
        entries.push({ server: name, fingerprint: keyOf(server.spec), tools })
        await setImmediate()
      }
      await cache.write(entries)
      // Elsewhere the user's servers may be others, and so may the names of their tools.
      if (inProject || hasProjectFiles(agentDir, cwd) || tapline.servers.some(isOfProject)) return
      const factory = factoryCacheOf(agentDir, tapline, definitions, listed, heard)
      await keep(factoryCachePath(agentDir), JSON.stringify(factory))
    } catch {
      // Without a cache the next start is slower, no more.
    }
  }
  const writeLatest = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const now = latest
    latest = undefined
    if (now) writing = writing.then(() => write(now))
    return writing
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
    remember: (tools) => {
      hear()
      if (tools.listed.size === 0) return
      latest = tools
      timer ??= setTimeout(() => void writeLatest(), WRITE_AFTER_MS)
    },
    close: writeLatest,
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
  listed: ReadonlySet<Server>,
  heard: Pick<WeakMap<Server, string | undefined>, 'get'>,
): FactoryFile {
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
  const complete = !foreign && early.every((server) => listed.has(server))
  return { fingerprint: factoryFingerprint(agentDir), ...packed(tools), complete, instructions }
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

/** Most sessions find what an earlier one has written. */
async function keep(path: string, text: string): Promise<void> {
  const before = await readFile(path, 'utf8').catch(() => undefined)
  if (before !== text) await replaceFile(path, text)
}

function versionOfThis(): string {
  return createHash('sha256')
    .update(readFileSync(new URL('../../package.json', import.meta.url)))
    .digest('hex')
    .slice(0, 16)
}
