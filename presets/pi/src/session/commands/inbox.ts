import type { ExtensionAPI, ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { messageOf } from '@tapline/core'
import { findEntry, type InboxEntry, type InboxScope, type InboxService } from '@tapline/inbox-sink'
import { openPanel } from '../inbox/panel.ts'
import { historyText, idOf, listText, MOST_LISTED, placeOf, statusOf, textOf } from '../inbox/text.ts'
import { type Action, type CommandScope, completeActions, runAction, type SlashCommand } from './command.ts'

const USAGE = `Usage:
  /inbox                         what is new in this project: in a terminal to choose from
  /inbox list [--all]            the same printed and numbered, or that of every project
  /inbox all [--all]             the history, with what was claimed and dismissed
  /inbox claim <n|id>            marks a finding as yours and starts a turn with it
  /inbox dismiss <n|id> [reason]
  /inbox clear [--all]           dismisses what was listed last
A number is a place in the list that was printed last; the beginning of an id is always good.`

/** The list that a session printed last. Numbers mean places in it, and nothing but it is cleared. */
interface Printed {
  readonly ids: readonly string[]
  readonly all: boolean
}

const printedIn = new WeakMap<ExtensionAPI, Printed>()

/** Answers what is printed; a throw is a warning. */
type Does = (
  service: InboxService,
  rest: string,
  scope: CommandScope,
  ctx: ExtensionCommandContext,
) => Promise<string | undefined> | string | undefined

const ACTIONS: Readonly<Record<string, Action>> = {
  list: answer(list),
  all: answer(({ inbox }, rest, scope) => {
    const view = scopeOf(scope, rest)
    return historyText(inbox.history(view), view)
  }),
  claim: answer((service, rest, scope, ctx) => {
    const [ref = ''] = rest.split(/\s+/)
    return claim(service, meant(service, ref, scope), ctx)
  }),
  dismiss: answer(dismiss),
  clear: answer(clear),
  help: answer(() => USAGE),
}

/** `/inbox`: what arrived and waits for somebody. */
export const inboxCommand: SlashCommand = {
  run: async (args, ctx, scope) => {
    const words = args.trim()
    if (words === '' && ctx.mode === 'tui') return answer(panel)('', ctx, scope)
    // `/inbox --all` is the list.
    await runAction('inbox', ACTIONS, 'list', words.startsWith('--') ? `list ${words}` : words, ctx, scope)
  },
  complete: (prefix) => completeActions(ACTIONS, prefix.trim()),
}

/** An action that says what it did, or why not. */
function answer(does: Does): Action {
  return async (rest, ctx, scope) => {
    const service = scope.tapline.services.inbox
    if (!service) {
      const message = 'The plugin "inbox-sink" is not loaded: is it among "disable" in tapline.*?'
      return ctx.ui.notify(message, 'warning')
    }
    try {
      const text = await does(service, rest, scope, ctx)
      if (text !== undefined) ctx.ui.notify(text, 'info')
    } catch (thrown) {
      ctx.ui.notify(messageOf(thrown), 'warning')
    }
  }
}

async function panel(
  service: InboxService,
  _rest: string,
  { paths }: CommandScope,
  ctx: ExtensionCommandContext,
): Promise<string | undefined> {
  const chosen = await openPanel(ctx, service.inbox, paths.cwd)
  return chosen && claim(service, chosen, ctx)
}

function list({ inbox }: InboxService, rest: string, scope: CommandScope): string {
  const wanted = scopeOf(scope, rest)
  const view = inbox.view(wanted)
  const ids = view.listed.slice(0, MOST_LISTED).map(({ id }) => id)
  printedIn.set(scope.pi, { ids, all: wanted.all })
  return listText(view, wanted)
}

/** Marks first: of several windows one starts a turn. */
async function claim(
  service: InboxService,
  entry: InboxEntry,
  ctx: ExtensionCommandContext,
): Promise<string | undefined> {
  const { claimInChat } = service
  if (!claimInChat) throw new Error('There is no chat here that could take it.')
  const wasIdle = ctx.isIdle()
  const triage = await claimInChat(entry.id, ctx.sessionManager.getSessionId())
  if (!triage.done) throw new Error(refusal(entry, triage.entry))
  const place = triage.entry.cwd === '' ? '' : ` of ${placeOf(triage.entry)}`
  const claimed = `Claimed [${idOf(triage.entry)}]${place}`
  if (triage.onlyShown !== undefined)
    throw new Error(`${claimed}. ${triage.onlyShown}: it is only shown, and your next prompt takes it along.`)
  return `${claimed}: a turn with it begins${wasIdle ? '' : ' after this one'}.`
}

async function dismiss(service: InboxService, rest: string, scope: CommandScope): Promise<string> {
  const [, ref = '', reason = ''] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? []
  const entry = meant(service, ref, scope)
  const triage = await service.inbox.dismiss(entry.id, reason)
  if (!triage.done) throw new Error(refusal(entry, triage.entry))
  return `Dismissed [${idOf(triage.entry)}] ${textOf(triage.entry)}`
}

/** Dismisses what was on the printed list and is still new; without a list, prints it. */
async function clear(service: InboxService, rest: string, scope: CommandScope): Promise<string> {
  const wanted = scopeOf(scope, rest)
  const { inbox } = service
  const printed = printedIn.get(scope.pi)
  if (printed === undefined || (wanted.all && !printed.all)) {
    const text = list(service, rest, scope)
    if (printedIn.get(scope.pi)?.ids.length === 0) return text
    return `${text}\nNothing is dismissed yet: this is what /inbox clear${wanted.all ? ' --all' : ''} dismisses when you say it again.`
  }
  const current = inbox.view(wanted).listed
  const listed = new Set(printed.ids)
  const dismissed = await inbox.dismissAll(current.map(({ id }) => id).filter((id) => listed.has(id)))
  const left = inbox.view(wanted).listed.length
  return [
    `Dismissed ${dismissed.length} ${dismissed.length === 1 ? 'finding' : 'findings'}.`,
    ...(left === 0
      ? []
      : [`${left} came since or ${left === 1 ? 'was' : 'were'} not on the list: /inbox list`]),
  ].join(' ')
}

/** The finding that a number of the printed list, an id or the beginning of one means. */
function meant({ inbox }: InboxService, ref: string, { pi }: CommandScope): InboxEntry {
  const entries = inbox.entries()
  const number = /^#?(\d{1,5})$/.exec(ref)?.[1]
  if (number !== undefined) {
    const ids = printedIn.get(pi)?.ids
    if (!ids) throw new Error('Numbers are places in the list that /inbox list prints: print it first.')
    const id = ids[Number(number) - 1]
    const entry = entries.find((candidate) => candidate.id === id)
    if (!entry)
      throw new Error(`The list that was printed last has no number ${number}. /inbox list prints it again.`)
    return entry
  }
  const found = findEntry(entries, ref)
  if (typeof found === 'string') throw new Error(found)
  return found
}

function refusal(meantOne: InboxEntry, now: InboxEntry | undefined): string {
  const id = `[${idOf(meantOne)}]`
  return now ? `${id} is already ${statusOf(now)}.` : `${id} is no longer in the inbox.`
}

function scopeOf({ paths }: CommandScope, rest: string): InboxScope {
  const words = rest.split(/\s+/).filter(Boolean)
  const strange = words.find((word) => word !== '--all')
  if (strange !== undefined) throw new Error(`There is no option "${strange}".\n${USAGE}`)
  return { cwd: paths.cwd, all: words.length > 0 }
}
