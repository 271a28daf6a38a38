import type { InboxEntry } from './entry.ts'
import { projectOf } from './project.ts'

/** Which part of the inbox is looked at. */
export interface InboxScope {
  /** The project, and the home directory, which is no project of what lies in it. */
  readonly cwd: string
  readonly home: string
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
export function viewOf(entries: readonly InboxEntry[], scope: InboxScope): InboxView {
  const fresh = entries.filter(({ status }) => status === 'new')
  const own = ofProject(fresh, scope)
  const [checkpoints, news] = [
    own.filter(({ kind }) => kind === 'checkpoint'),
    own.filter(({ kind }) => kind !== 'checkpoint'),
  ]
  return { listed: [...checkpoints, ...news], elsewhere: fresh.length - own.length }
}

/** Entries of whatever status, oldest first. */
export function historyOf(entries: readonly InboxEntry[], scope: InboxScope): readonly InboxEntry[] {
  return ofProject(entries, scope)
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

function ofProject(entries: readonly InboxEntry[], { all, cwd, home }: InboxScope): readonly InboxEntry[] {
  if (all) return entries
  const belongs = projectOf(cwd, home)
  return entries.filter((entry) => belongs(entry.cwd))
}
