import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { createProjects, type HostPaths, jsonFile, type ServerSpec } from '@tapline/core'

/** What a person said of a server. */
export interface Consent {
  /** Whether what it sends goes into the conversation. */
  readonly speak: boolean
  /** Whether it may answer when a tool call waits for approval. Absent: nobody was asked that. */
  readonly permission?: boolean
}

/** Remembers what servers may do as channels. A yes is tied to how the server is reached; that of a project's server, to the project too. */
export interface Consents {
  readonly path: string
  /** What was said of exactly this server; undefined when nobody was asked. */
  of(server: ServerSpec): Consent | undefined
  save(server: ServerSpec, consent: Consent): Promise<void>
}

interface Entry extends Consent {
  readonly sha256: string
  readonly at: string
}

type Entries = Readonly<Record<string, Entry>>

interface Content {
  readonly version: 1
  /** Servers of the person's own files, by name. */
  readonly servers: Entries
  /** Servers of projects' files: directory, then name. */
  readonly projects: Readonly<Record<string, Entries>>
}

/** The store in `<agent dir>/tapline/channels.json`. */
export function channelConsents(
  { agentDir, cwd, home }: Pick<HostPaths, 'agentDir' | 'cwd' | 'home'>,
  onSetAside?: (path: string, keptAs: string) => void,
): Consents {
  const file = jsonFile<Content>({
    path: join(agentDir, 'tapline', 'channels.json'),
    empty: () => ({ version: 1, servers: {}, projects: {} }),
    accepts: (content): content is Content =>
      isRecord(content) && isRecord(content.servers) && isRecord(content.projects),
    ...(onSetAside ? { onSetAside } : {}),
  })
  const { real } = createProjects(home)
  /** The directory that a server's entry belongs to; undefined for the person's own. Its file is in the project's `.pi`. */
  const projectOf = ({ source }: ServerSpec): string | undefined =>
    source.scope === 'project'
      ? real(source.path === undefined ? cwd : dirname(dirname(source.path)))
      : undefined
  return {
    path: file.path,
    of: (server) => {
      const { servers, projects } = readOr(file.read, { version: 1, servers: {}, projects: {} })
      const project = projectOf(server)
      const entry = own(project === undefined ? servers : own(projects, project), server.name)
      if (!isRecord(entry) || entry.sha256 !== hashOf(server) || typeof entry.speak !== 'boolean')
        return undefined
      return {
        speak: entry.speak,
        ...(typeof entry.permission === 'boolean' ? { permission: entry.permission } : {}),
      }
    },
    save: async (server, consent) => {
      const entry: Entry = { ...consent, sha256: hashOf(server), at: new Date().toISOString() }
      const project = projectOf(server)
      await file.update((content) =>
        project === undefined
          ? { ...content, servers: { ...content.servers, [server.name]: entry } }
          : {
              ...content,
              projects: {
                ...content.projects,
                [project]: { ...own(content.projects, project), [server.name]: entry },
              },
            },
      )
    },
  }
}

function hashOf({ transport }: ServerSpec): string {
  return createHash('sha256').update(JSON.stringify(transport)).digest('hex')
}

/** A store that cannot be read says nothing: nobody was asked. */
function readOr<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
