import type { Projects } from '@tapline/core'
import type { InboxEntry } from './entry.ts'

/** Which part of the inbox is looked at. */
export interface InboxScope {
  /** The project. */
  readonly cwd: string
  /** Every project's. */
  readonly all: boolean
}

/** What is new, as it is listed. */
export interface InboxView {
  /** Checkpoints first, then news; each oldest first. */
  readonly listed: readonly InboxEntry[]
  /** How many new ones are not listed, because they belong to other projects. */
  readonly elsewhere: number
}

/** The new entries of a project, and those that belong to none. */
export function viewOf(entries: readonly InboxEntry[], scope: InboxScope, projects: Projects): InboxView {
  const fresh = entries.filter(({ status }) => status === 'new')
  const own = ofProject(fresh, scope, projects)
  const [checkpoints, news] = [
    own.filter(({ kind }) => kind === 'checkpoint'),
    own.filter(({ kind }) => kind !== 'checkpoint'),
  ]
  return { listed: [...checkpoints, ...news], elsewhere: fresh.length - own.length }
}

/** The entries of a project, of whatever status, and those that belong to none. */
export function ofProject(
  entries: readonly InboxEntry[],
  { all, cwd }: InboxScope,
  projects: Projects,
): readonly InboxEntry[] {
  return all ? entries : entries.filter((entry) => entry.cwd === '' || projects.same(entry.cwd, cwd))
}

/** The entry that a person means by an id or by the beginning of one, `inb-` or not; else a sentence. */
export function findEntry(entries: readonly InboxEntry[], ref: string): InboxEntry | string {
  const wanted = ref.trim().toLowerCase()
  if (wanted === '' || wanted === 'inb-') return 'Say which one: its id, or the beginning of it.'
  const exact = entries.find(({ id }) => id.toLowerCase() === wanted)
  if (exact) return exact
  const begins = ({ id }: InboxEntry): boolean => {
    const own = id.toLowerCase()
    return own.startsWith(wanted) || own.startsWith(`inb-${wanted}`)
  }
  const found = entries.filter(begins)
  // What has been triaged is in nobody's way.
  const fresh = found.filter(({ status }) => status === 'new')
  const meant = found.length > 1 && fresh.length > 0 ? fresh : found
  const [first] = meant
  if (!first) return `No finding has an id that begins with "${ref}".`
  if (meant.some(({ id }) => id !== first.id))
    return `${meant.length} findings have an id that begins with "${ref}": give more of it.`
  return first
}

/** The beginning of an id that is shown: enough of it to be told from others. */
export function shortId(id: string): string {
  return id.replace(/^inb-/, '').slice(0, 8)
}
