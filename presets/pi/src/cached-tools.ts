import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
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
  /** What the user's servers of mcp.json said of themselves when they were last connected. */
  readonly instructions?: Readonly<Record<string, string>>
}

/** What a call of a tool by its name does. */
export type ToolCaller = (
  name: string,
  ...call: Parameters<ToolDefinition['execute']>
) => ReturnType<ToolDefinition['execute']>

/** What is registered from the cache. */
export interface CachedTools {
  readonly path: string
  readonly tools: readonly ToolDefinition[]
  readonly names: ReadonlySet<string>
  readonly complete: boolean
  instructionsOf(server: string): string | undefined
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

/**
 * Configuration bytes, versions and what other extensions there are: tools of a cache with another
 * fingerprint are not registered early. An extension that was not there when the cache was written may
 * have one of its names, and two extensions with one name keep pi from starting.
 */
export function factoryFingerprint(agentDir: string): string {
  const hash = createHash('sha256')
  hash.update(readOr(new URL('../package.json', import.meta.url), ''))
  for (const name of FILES) hash.update(`\0${name}\0${readOr(join(agentDir, name), '')}`)
  hash.update(`\0${JSON.stringify(process.argv.flatMap(extensionNamed))}`)
  for (const directory of [agentDir, join(process.cwd(), '.pi')]) hash.update(`\0${extensionsIn(directory)}`)
  return hash.digest('hex')
}

/** The value of `-e` and `--extension`, pi's flags for one more extension. */
function extensionNamed(arg: string, index: number, argv: readonly string[]): readonly string[] {
  if (arg === '-e' || arg === '--extension') return [argv[index + 1] ?? '']
  return arg.startsWith('--extension=') ? [arg] : []
}

/** The extensions that pi finds from this directory: named in its settings, or lying in its folder. */
function extensionsIn(directory: string): string {
  let named: unknown
  try {
    const { packages, extensions } = JSON.parse(readOr(join(directory, 'settings.json'), '{}')) as Record<
      string,
      unknown
    >
    named = [packages, extensions]
  } catch {
    named = 'unreadable'
  }
  const folder = join(directory, 'extensions')
  let lying: readonly string[] = []
  try {
    lying = readdirSync(folder).map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`)
  } catch {
    // Most have none.
  }
  return JSON.stringify([named, lying])
}

/** The tools of the cache, when it is about the configuration as it is now. */
export function cachedTools(execute: ToolCaller): CachedTools {
  const agentDir = agentDirectory()
  const path = factoryCachePath(agentDir)
  const tools: ToolDefinition[] = []
  let complete = false
  let instructions: FactoryCache['instructions']
  try {
    const cache = JSON.parse(readFileSync(path, 'utf8')) as FactoryCache
    if (cache.fingerprint === factoryFingerprint(agentDir)) {
      for (const tool of cache.tools) {
        if (!tool.name.startsWith('mcp__')) continue
        tools.push({ ...tool, execute: (...call) => execute(tool.name, ...call) })
      }
      complete = cache.complete === true
      instructions = cache.instructions
    }
  } catch {
    // Without a cache the tools come with the servers.
    tools.length = 0
  }
  return {
    path,
    tools,
    names: new Set(tools.map(({ name }) => name)),
    complete,
    instructionsOf: (server) => {
      const text: unknown = Object.hasOwn(instructions ?? {}, server) ? instructions?.[server] : undefined
      return typeof text === 'string' ? text : undefined
    },
  }
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
