import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { agentDirectory } from './cached-tools.ts'
import { namespaceOf } from './servers-section.ts'

/** What the files say of a session before anything is loaded. */
export interface Outlook {
  /** Nothing is configured: nothing is loaded until somebody asks for it. */
  readonly empty: boolean
  /** There may be direct tools that are not registered yet: the first prompt waits for them. */
  readonly waits: boolean
  /** The tools of pi that reach the servers of mcp.json; they must be active in the first request. */
  readonly reaching: readonly ('codemode' | 'tool_search')[]
  /** The enabled servers of mcp.json. */
  readonly servers: readonly ForeseenServer[]
}

/** A server as mcp.json alone describes it. */
export interface ForeseenServer {
  readonly name: string
  readonly exposures: ReadonlySet<unknown>
  readonly description?: string
  /** Whether a project has no say in it. */
  readonly ofUser: boolean
}

/** What decides beside the files. */
export interface Circumstances {
  readonly cwd: string
  readonly projectTrusted: boolean
  /** Whether other extensions have added servers or plugins. */
  readonly extended: boolean
  /** Whether the factory has registered every direct tool of the user's mcp.json. */
  readonly cacheComplete: boolean
}

interface Entry {
  readonly enabled?: unknown
  readonly exposure?: unknown
  readonly toolExposure?: unknown
  readonly command?: unknown
  readonly url?: unknown
  readonly type?: unknown
  readonly description?: unknown
}

interface NamedEntry {
  readonly name: string
  readonly entry: Entry
  readonly ofUser: boolean
}

const SETTINGS = ['toml', 'json', 'yaml', 'yml', 'ts'].map((ending) => `tapline.${ending}`)

/** Looks at what is there, without judging it: that is what the dialects do later. */
export function lookAhead({ cwd, projectTrusted, extended, cacheComplete }: Circumstances): Outlook {
  const agentDir = agentDirectory()
  const project = join(cwd, '.pi')
  const user = entriesOf(join(agentDir, 'mcp.json'))
  const own = projectTrusted ? entriesOf(join(project, 'mcp.json')) : {}
  const entries = merged(user ?? {}, own ?? {}).filter(({ entry }) => entry.enabled !== false)
  const exposures = new Set(entries.flatMap(({ entry }) => exposuresOf(entry)))
  // What only the loaded dialects understand: their tools may be direct, and are not in the factory's cache.
  const further =
    extended ||
    user === undefined ||
    own === undefined ||
    !isPlain(entries) ||
    [join(loopsDirectory(agentDir), 'mcp.toml'), join(project, 'mcp.toml')].some((path) =>
      existsSync(path),
    ) ||
    [agentDir, project].some((directory) => SETTINGS.some((name) => existsSync(join(directory, name))))
  const covered = cacheComplete && Object.keys(own ?? {}).length === 0
  return {
    empty:
      entries.length === 0 &&
      !further &&
      !holdsSome(join(loopsDirectory(agentDir), 'tapline-cron.json'), 'jobs') &&
      !existsSync(join(loopsDirectory(agentDir), 'inbox.jsonl')) &&
      !holdsSome(join(loopsDirectory(agentDir), 'triggers.json'), 'rules'),
    waits: further || (exposures.has('direct') && !covered),
    reaching: [
      ...(exposures.has('codemode') ? (['codemode'] as const) : []),
      ...(exposures.has('deferred') ? (['tool_search'] as const) : []),
    ],
    servers: entries.map(({ name, entry, ofUser }) => ({
      name,
      exposures: new Set(exposuresOf(entry)),
      ...(typeof entry.description === 'string' ? { description: entry.description } : {}),
      ofUser,
    })),
  }
}

/** The entries of an mcp.json, none when there is no file, undefined when it cannot be understood. */
function entriesOf(path: string): Readonly<Record<string, Entry>> | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT' ? {} : undefined
  }
  try {
    const { mcpServers = {}, autoEnableCodemode } = JSON.parse(text.replace(/^\uFEFF/, '')) as {
      mcpServers?: unknown
      autoEnableCodemode?: unknown
    }
    // The setting is for the loaded dialect to read.
    return autoEnableCodemode === undefined &&
      isRecord(mcpServers) &&
      Object.values(mcpServers).every(isRecord)
      ? (mcpServers as Record<string, Entry>)
      : undefined
  } catch {
    return undefined
  }
}

/** Whether a file of rules or jobs has any; what cannot be read may hold some. */
function holdsSome(path: string, key: 'jobs' | 'rules'): boolean {
  if (!existsSync(path)) return false
  try {
    const list = (JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>)[key]
    return !Array.isArray(list) || list.length > 0
  } catch {
    return true
  }
}

/** A project's entry without command, url and type changes the user's; any other replaces it. */
function merged(
  user: Readonly<Record<string, Entry>>,
  project: Readonly<Record<string, Entry>>,
): readonly NamedEntry[] {
  const all = new Map<string, NamedEntry>()
  for (const [name, entry] of Object.entries(user)) all.set(name, { name, entry, ofUser: true })
  for (const [name, entry] of Object.entries(project)) {
    const replaces = entry.command !== undefined || entry.url !== undefined || entry.type !== undefined
    all.set(name, { name, entry: replaces ? entry : { ...all.get(name)?.entry, ...entry }, ofUser: false })
  }
  return [...all.values()]
}

/** Whether these are surely servers; of others only the loaded dialect can say what becomes of them. */
function isPlain(entries: readonly NamedEntry[]): boolean {
  return (
    new Set(entries.map(({ name }) => namespaceOf(name))).size === entries.length &&
    entries.every(
      ({ name, entry: { command, url, type } }) =>
        /^[\w-]+$/.test(name) &&
        (typeof command === 'string') !== (typeof url === 'string') &&
        (type === undefined || (typeof command === 'string') === (type === 'stdio')) &&
        type !== 'sse',
    )
  )
}

function exposuresOf({ exposure = 'codemode', toolExposure }: Entry): unknown[] {
  return [exposure, ...(isRecord(toolExposure) ? Object.values(toolExposure) : [])].map((given) =>
    given === 'codemode-deferred' ? 'codemode' : given,
  )
}

function loopsDirectory(agentDir: string): string {
  const configured = process.env.PI_LOOPS_DIR
  if (!configured) return join(agentDir, 'loops')
  return configured === '~' || configured.startsWith('~/') ? join(homedir(), configured.slice(1)) : configured
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
