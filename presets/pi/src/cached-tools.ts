import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ToolDefinition } from '@earendil-works/pi-coding-agent'

/** A tool as the cache keeps it: everything but what it does. */
export type CachedTool = Pick<
  ToolDefinition,
  'name' | 'label' | 'description' | 'parameters' | 'outputSchema' | 'exposure' | 'namespace' | 'annotations'
>

/** The cache of tools that may be registered before anything is known of this session. */
export interface FactoryCache {
  readonly fingerprint: string
  readonly tools: readonly CachedTool[]
  /** Whether these are all direct tools of the user's mcp.json. */
  readonly complete?: boolean
}

type Execute = (
  name: string,
  ...call: Parameters<ToolDefinition['execute']>
) => ReturnType<ToolDefinition['execute']>

/** What is registered from the cache. */
export interface CachedTools {
  readonly path: string
  readonly tools: readonly ToolDefinition[]
  readonly names: ReadonlySet<string>
  readonly complete: boolean
}

/** Files whose bytes decide which tools a user-level server has. */
const FILES = [
  'mcp.json',
  'tapline.toml',
  'tapline.json',
  'tapline.yaml',
  'tapline.yml',
  'tapline.ts',
] as const

/** pi's agent directory, found as pi finds it. */
export function agentDirectory(): string {
  const configured = process.env.PI_CODING_AGENT_DIR
  if (!configured) return join(homedir(), '.pi', 'agent')
  return configured === '~' || configured.startsWith('~/') ? join(homedir(), configured.slice(1)) : configured
}

/** Where the cache is. */
export function factoryCachePath(agentDir: string): string {
  return join(agentDir, 'tapline', 'factory-tools.json')
}

/** Configuration bytes and versions: tools of a cache with another fingerprint are not registered early. */
export function factoryFingerprint(agentDir: string): string {
  const hash = createHash('sha256')
  hash.update(readOr(new URL('../package.json', import.meta.url), ''))
  for (const name of FILES) hash.update(`\0${name}\0${readOr(join(agentDir, name), '')}`)
  return hash.digest('hex')
}

/** The tools of the cache, when it is about the configuration as it is now. */
export function cachedTools(execute: Execute): CachedTools {
  const agentDir = agentDirectory()
  const path = factoryCachePath(agentDir)
  const tools: ToolDefinition[] = []
  let complete = false
  try {
    const cache = JSON.parse(readFileSync(path, 'utf8')) as FactoryCache
    if (cache.fingerprint === factoryFingerprint(agentDir)) {
      for (const tool of cache.tools) {
        if (!tool.name.startsWith('mcp__')) continue
        tools.push({ ...tool, execute: (...call) => execute(tool.name, ...call) })
      }
      complete = cache.complete === true
    }
  } catch {
    // Without a cache the tools come with the servers.
    tools.length = 0
  }
  return { path, tools, names: new Set(tools.map(({ name }) => name)), complete }
}

/**
 * Forgets the cache when this process ends before its session has started: another extension with
 * one of the names keeps pi from starting, and the next start must not meet it again.
 */
export function forgetCachedTools({ path, tools }: CachedTools): () => void {
  if (tools.length === 0) return () => undefined
  const forget = (): void => rmSync(path, { force: true })
  process.once('exit', forget)
  return () => void process.removeListener('exit', forget)
}

function readOr(path: string | URL, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}
