import { randomUUID } from 'node:crypto'
import type { Drop, RawNotification, ServerView, Trigger } from '@tapline/core'
import { EVENT_METHOD, isRecord, SINK } from './contract.ts'
import { ATTRIBUTE_NAME, isSource } from './framing.ts'
import { keyOf } from './keys.ts'
import { ownPolicy } from './policies.ts'
import { beginning, cleanLine, cleanLines, cut, wholeWords } from './text.ts'

/** How much of an event the model reads, in bytes. */
const MOST_CONTENT = 32 * 1024
const MOST_ATTRIBUTES = 32
const LONGEST_NAME = 64
const LONGEST_VALUE = 1_024
const LONGEST_SENDER = 60
const LONGEST_EXCERPT = 120
/** Nothing beyond this can end up in what is shown. */
const LONGEST_LOOKED_AT = 4_096

/** The event that a notification of a channel is, or what is wrong with it, in words for the server's author. */
export function mapEvent(
  { server, params, receivedAt }: RawNotification,
  view: Pick<ServerView, 'spec'>,
  redact: ((text: string) => string) | undefined,
): Trigger | Drop {
  const { content, meta = {} } = params ?? {}
  if (typeof content !== 'string') return malformed(`"content" must be a text, and is ${kindOf(content)}`)
  if (meta !== null && !isRecord(meta)) return malformed(`"meta" must be an object, and is ${kindOf(meta)}`)
  const said = sayings(meta ?? {})
  const attributes = attributesOf(said)
  return {
    kind: 'trigger',
    traceId: randomUUID(),
    source: 'mcp',
    server,
    method: EVENT_METHOD,
    key: keyOf(server, content, said),
    replacement: 'drop',
    summary: summaryOf(content, attributes, redact),
    content: bounded(content),
    attributes,
    ...(ownPolicy(view.spec.push) === undefined ? { policy: SINK } : {}),
    receivedAt,
  }
}

/** Who sent an event, as far as the server says. */
export function senderOf({ attributes }: Pick<Trigger, 'attributes'>): string | undefined {
  return attributes?.user || attributes?.chat_id || undefined
}

/** The texts of `meta`. The contract knows nothing else; numbers and truth values are as good as texts. */
function sayings(meta: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(meta).flatMap(([name, value]) =>
      ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [],
    ),
  )
}

function attributesOf(said: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(said)
      // The name of the server is the person's to give.
      .filter(([name]) => name.length <= LONGEST_NAME && ATTRIBUTE_NAME.test(name) && !isSource(name))
      .slice(0, MOST_ATTRIBUTES)
      .map(([name, value]) => [name, cleanLine(value, LONGEST_VALUE)]),
  )
}

/** The content as the model may read it, with a last line that says so where it was cut. */
function bounded(content: string): string {
  const looked = beginning(content, MOST_CONTENT * 4)
  const clean = cleanLines(looked)
  const shown = beginning(clean, MOST_CONTENT)
  if (shown === clean && looked === content) return shown
  const size = Math.ceil(Buffer.byteLength(content) / 1024)
  return `${shown}\n[cut by Tapline: the message has ${size} KB, of which ${MOST_CONTENT / 1024} KB are shown]`
}

/** For lists and the inbox: who, and how it begins. Nothing of the content where nobody can redact it. */
function summaryOf(
  content: string,
  attributes: Readonly<Record<string, string>>,
  redact: ((text: string) => string) | undefined,
): string {
  if (!redact) return EVENT_METHOD
  const sender = senderOf({ attributes })
  const from = sender === undefined ? '' : ` from ${cleanLine(redact(sender), LONGEST_SENDER)}`
  // Redaction comes before the cut: half a key is still half a key.
  const excerpt = redact(cleanLines(wholeWords(content, LONGEST_LOOKED_AT)).trim()).replace(/\s+/g, ' ')
  return `${EVENT_METHOD}${from}${excerpt === '' ? '' : `: ${cut(excerpt, LONGEST_EXCERPT)}`}`
}

function malformed(what: string): Drop {
  return {
    kind: 'drop',
    reason: 'malformed channel event',
    error: `dropped ${EVENT_METHOD}: ${what}`,
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `of type ${typeof value}`
}
