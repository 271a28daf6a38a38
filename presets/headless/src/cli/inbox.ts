import { cleanText, createProjects, files, messageOf } from '@tapline/core'
import {
  findEntry,
  type Inbox,
  type InboxEntry,
  type InboxScope,
  openInbox,
  shortId,
  type Triage,
} from '@tapline/inbox-sink'
import { auditTrail } from '../state/audit.ts'
import type { CommandContext } from './command.ts'

const USAGE = `Usage: tapline inbox <command> [--json]

  list [--all]             what is new in this project, or in every one
  claim <id>               prints a finding and marks it as yours
  dismiss <id> [reason]
  clear [--all]            dismisses what list prints

The beginning of an id is enough.`

/** Who is said to have claimed what is claimed here. */
const CLAIMANT = 'tapline'
const LONGEST_TEXT = 500

type Does = (inbox: Inbox, context: CommandContext, args: readonly string[]) => Promise<Said> | Said

/** What a command answers: as text, and as JSON. */
interface Said {
  readonly text: string
  readonly json: object
}

const COMMANDS: Readonly<Record<string, Does>> = { list, claim, dismiss, clear }

/**
 * `tapline inbox list|claim|dismiss|clear`: the inbox of this machine. Starts no server. Exit 1 when there is no such
 * finding, when it was triaged already, or when the inbox cannot be read or written; 2 when the command is not understood.
 */
export async function inbox(context: CommandContext): Promise<number> {
  const [name = 'list', ...args] = context.args
  const { loopsDir, home } = context.paths
  const does = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!does) {
    console.error(`tapline inbox has no command "${name}".\n\n${USAGE}`)
    return 2
  }
  const audit = auditTrail(loopsDir, (message) => console.error(message))
  try {
    const projects = createProjects(home)
    const store = openInbox({ files, loopsDir, projects, audit: (row) => audit.write(row) })
    const { text, json } = await does(store, context, args)
    console.log(context.json ? JSON.stringify(json) : text)
    return 0
  } catch (thrown) {
    if (context.json) console.log(JSON.stringify({ error: messageOf(thrown) }))
    else console.error(messageOf(thrown))
    return 1
  } finally {
    await audit.flush()
  }
}

function list(store: Inbox, context: CommandContext): Said {
  const { listed, elsewhere } = store.view(scopeOf(context))
  const title = context.all
    ? 'Inbox of every project'
    : `Inbox of ${cleanText(context.paths.cwd, LONGEST_TEXT)}`
  return {
    text: [
      `${title}: ${listed.length === 0 ? 'nothing new' : `${listed.length} new`}`,
      ...listed.flatMap((entry) => linesOf(entry)),
      ...(elsewhere === 0 ? [] : [`+ ${elsewhere} new in other projects (--all)`]),
    ].join('\n'),
    json: { findings: listed.map(findingOf) },
  }
}

async function claim(store: Inbox, _context: CommandContext, [ref = '']: readonly string[]): Promise<Said> {
  const entry = done(await store.claim(meant(store, ref).id, CLAIMANT))
  return { text: linesOf(entry).join('\n'), json: { finding: findingOf(entry) } }
}

async function dismiss(
  store: Inbox,
  { reason }: CommandContext,
  [ref = '', ...words]: readonly string[],
): Promise<Said> {
  const entry = done(await store.dismiss(meant(store, ref).id, reason ?? words.join(' ')))
  return {
    text: ['Dismissed:', ...linesOf(entry)].join('\n'),
    json: { finding: findingOf(entry) },
  }
}

async function clear(store: Inbox, context: CommandContext): Promise<Said> {
  const dismissed = await store.dismissAll(store.view(scopeOf(context)).listed.map(({ id }) => id))
  return {
    text: [
      `Dismissed ${dismissed.length}${dismissed.length === 0 ? '.' : ':'}`,
      ...dismissed.flatMap(linesOf),
    ].join('\n'),
    json: { findings: dismissed.map(findingOf) },
  }
}

function scopeOf({ paths, all }: CommandContext): InboxScope {
  return { cwd: paths.cwd, all }
}

function meant(store: Inbox, ref: string): InboxEntry {
  // A number is a place in a list elsewhere; nothing is listed here that one could mean.
  if (/^#?\d{1,5}$/.test(ref)) throw new Error(`"${ref}" is no id: tapline inbox list shows them.`)
  const found = findEntry(store.entries(), ref)
  if (typeof found === 'string') throw new Error(found)
  return found
}

function done(triage: Triage): InboxEntry {
  if (triage.done) return triage.entry
  const { entry } = triage
  if (!entry) throw new Error('The finding is no longer in the inbox.')
  throw new Error(`Finding ${idOf(entry)} is already ${cleanText(entry.status, 20)}.`)
}

/** The fields that pi-loops promises to programs. */
function findingOf(entry: InboxEntry): object {
  const { id, created_at, status, kind, source, run_id, cwd, text, verified, dismiss_reason } = entry
  return { id, created_at, status, kind, source, run_id, cwd, text, verified, dismiss_reason }
}

/** Texts of others, clean: they are printed in a terminal. */
function linesOf(entry: InboxEntry): string[] {
  const { kind, source, created_at, cwd, text } = entry
  const facts = [source, created_at, cwd].filter((fact) => fact !== '')
  return [
    `  ${kind === 'checkpoint' ? '! ' : ''}${idOf(entry)}  ${facts.map((fact) => cleanText(fact, LONGEST_TEXT)).join('  ')}`,
    `      ${cleanText(text, LONGEST_TEXT) || '(no text)'}`,
  ]
}

function idOf({ id }: InboxEntry): string {
  return cleanText(shortId(id), 12)
}
