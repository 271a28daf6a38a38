import { cleanText } from '@tapline/core'
import { type InboxEntry, type InboxScope, type InboxView, shortId } from '@tapline/inbox-sink'

/** Entries that one list shows; what is beyond them has no number. */
export const MOST_LISTED = 50
const LONGEST_TEXT = 500

const HINTS =
  '/inbox claim <n|id> starts a turn with it · dismiss <n|id> [reason] · clear dismisses what is listed here · all is the history'

/** What `/inbox` prints. */
export function listText({ listed, elsewhere }: InboxView, { all }: InboxScope): string {
  const shown = listed.slice(0, MOST_LISTED)
  const lines = shown.flatMap((entry, index) => [
    `  ${index + 1}. ${markOf(entry)}[${idOf(entry)}] ${textOf(entry)}  (${originOf(entry)})`,
    ...(all && entry.cwd !== '' ? [`       in ${placeOf(entry)}`] : []),
  ])
  return [
    `${titleOf(all)}: ${countText(listed)}`,
    ...lines,
    ...(listed.length > shown.length ? [`  … and ${listed.length - shown.length} more`] : []),
    ...(listed.length === 0 ? [] : [HINTS]),
    ...(elsewhere === 0 ? [] : [`+ ${elsewhere} new in other projects (/inbox --all)`]),
  ].join('\n')
}

/** What `/inbox all` prints: entries of every status, the newest last. */
export function historyText(entries: readonly InboxEntry[], { all }: InboxScope): string {
  const shown = entries.slice(-MOST_LISTED)
  const older = entries.length - shown.length
  return [
    `${titleOf(all)}, history: ${entries.length} ${entries.length === 1 ? 'finding' : 'findings'}`,
    ...(older === 0 ? [] : [`  … ${older} older`]),
    ...shown.flatMap((entry) => [
      `  [${idOf(entry)}] ${statusOf(entry)}: ${markOf(entry)}${textOf(entry)}  (${originOf(entry)})`,
      ...(all && entry.cwd !== '' ? [`       in ${placeOf(entry)}`] : []),
    ]),
  ].join('\n')
}

export function titleOf(all: boolean): string {
  return all ? 'Inbox of every project' : 'Inbox of this project'
}

/** `3 new, 1 to decide`. */
export function countText(listed: readonly InboxEntry[]): string {
  if (listed.length === 0) return 'nothing new'
  const toDecide = listed.filter(({ kind }) => kind === 'checkpoint').length
  return `${listed.length} new${toDecide === 0 ? '' : `, ${toDecide} to decide`}`
}

/** What it says, on one line and clean: other programs write into the inbox too. */
export function textOf({ text }: InboxEntry): string {
  return cleanText(text, LONGEST_TEXT) || '(no text)'
}

export function idOf({ id }: InboxEntry): string {
  return cleanText(shortId(id), 12)
}

export function placeOf({ cwd }: InboxEntry): string {
  return cleanText(cwd, 300)
}

function sourceOf({ source }: InboxEntry): string {
  return cleanText(source, 80).replace(/^trigger:(?:mcp:)?/, '') || 'unknown source'
}

/** `hub, 5 min ago`. */
export function originOf(entry: InboxEntry, now = Date.now()): string {
  const age = ageOf(entry, now)
  const checked = entry.verified === true ? ', ✓' : ''
  return `${sourceOf(entry)}${age === '' ? '' : `, ${age}`}${checked}`
}

/** `5 min ago`; nothing for a time that is none or is still to come. */
function ageOf({ created_at }: InboxEntry, now: number): string {
  const minutes = Math.floor((now - Date.parse(created_at)) / 60_000)
  if (Number.isNaN(minutes) || minutes < -1) return ''
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`
  return `${Math.floor(minutes / (24 * 60))} d ago`
}

/** `dismissed (seen)`. */
export function statusOf({ status, dismiss_reason }: InboxEntry): string {
  const reason = status === 'dismissed' && dismiss_reason ? ` (${cleanText(dismiss_reason, 200)})` : ''
  return `${cleanText(status, 20)}${reason}`
}

/** What needs a decision stands out. */
export function markOf({ kind }: InboxEntry): string {
  return kind === 'checkpoint' ? '! ' : ''
}
