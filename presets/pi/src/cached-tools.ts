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

/** What tools of one server have in common; a file has it once. */
type Shared = 'namespace' | 'outputSchema'

/** A tool in the file: for what it shares with others stands where that is in {@link FactoryFile.shared}. */
export type PackedTool = Omit<CachedTool, Shared> & { readonly [part in Shared]?: number }

/** The file of tools that may be registered before anything is known of this session. */
export interface FactoryFile {
  readonly fingerprint: string
  readonly shared: readonly unknown[]
  readonly tools: readonly PackedTool[]
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

/** What a session is told of what was there before it. */
export interface EarlyTools {
  /** Tools of Tapline that were registered. */
  readonly names: ReadonlySet<string>
  /** Those of servers among them. */
  readonly definitions: readonly CachedTool[]
  /** What servers said of themselves in an earlier session, by their names; their entries may be others by now. */
  readonly instructions: Readonly<Record<string, string>>
  /** pi goes on with a conversation: until its next run it may wait for tools that this one has declared. */
  readonly resumed?: boolean
}

/** What is registered from the cache. */
export interface CachedTools {
  readonly path: string
  readonly tools: readonly ToolDefinition[]
  readonly complete: boolean
  readonly early: EarlyTools
  /** What a server with the entry that it has now said of itself. */
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

/** The tools of the cache, when it is about the configuration as it is now. It is read once, here. */
export function cachedTools(execute: ToolCaller): CachedTools {
  const agentDir = agentDirectory()
  const path = factoryCachePath(agentDir)
  const cache = readFile(path)
  const valid = cache !== undefined && cache.fingerprint === factoryFingerprint(agentDir)
  const definitions = valid ? cache.tools.filter(({ name }) => name.startsWith('mcp__')) : []
  return {
    path,
    tools: definitions.map((tool) => ({ ...tool, execute: (...call) => execute(tool.name, ...call) })),
    complete: valid && cache.complete === true,
    early: {
      names: new Set(definitions.map(({ name }) => name)),
      definitions,
      instructions: cache?.instructions ?? {},
    },
    instructionsOf: (server) => {
      const { instructions = {} } = valid ? cache : {}
      const text: unknown = Object.hasOwn(instructions, server) ? instructions[server] : undefined
      return typeof text === 'string' ? text : undefined
    },
  }
}

/** Without a file that can be read the tools come with the servers. */
function readFile(path: string): (Omit<FactoryFile, 'tools'> & { tools: readonly CachedTool[] }) | undefined {
  try {
    const file = JSON.parse(readFileSync(path, 'utf8')) as FactoryFile
    return { ...file, tools: file.tools.map((tool) => unpacked(tool, file.shared)) }
  } catch {
    return undefined
  }
}

/** A tool of the file, its fields in the order in which a session has them: what is equal is equal as text. */
export function unpacked(tool: PackedTool, shared: readonly unknown[]): CachedTool {
  const { name, label, description, parameters, outputSchema, exposure, namespace, annotations } = tool
  if (typeof name !== 'string') throw new TypeError('not a tool')
  return {
    name,
    label,
    description,
    parameters,
    outputSchema: shared[outputSchema ?? -1],
    exposure,
    namespace: shared[namespace ?? -1],
    ...(annotations ? { annotations } : {}),
  } as CachedTool
}

/** Tools as the file has them. */
export function packed(tools: readonly CachedTool[]): Pick<FactoryFile, 'shared' | 'tools'> {
  const shared: unknown[] = []
  const places = new Map<string, number>()
  const placeOf = (part: unknown): number => {
    const text = JSON.stringify(part)
    const place = places.get(text) ?? shared.push(part) - 1
    places.set(text, place)
    return place
  }
  return {
    shared,
    tools: tools.map(({ outputSchema, namespace, ...tool }) => ({
      ...tool,
      ...(outputSchema ? { outputSchema: placeOf(outputSchema) } : {}),
      ...(namespace ? { namespace: placeOf(namespace) } : {}),
    })),
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
