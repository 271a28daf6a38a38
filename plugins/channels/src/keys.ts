import { createHash } from 'node:crypto'

const LONGEST = 200
const PLAIN = /^[A-Za-z0-9_.~-]{1,200}$/

/** What a server says of an event, as it sent it. */
type Meta = Readonly<Record<string, string>>

/**
 * By what an event is recognised when it comes twice: its `message_id` (in its chat, where it names one: some
 * services count the messages of each chat), else `chat_id` and `ts`, else all of it.
 */
export function keyOf(server: string, content: string, meta: Meta): string {
  const { message_id: message, chat_id: chat, ts } = meta
  if (message) return key(server, 'id', ...(chat ? [chat] : []), message)
  if (chat && ts) return key(server, 'at', chat, ts)
  const said = Object.entries(meta).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return key(server, 'hash', hashOf(JSON.stringify([content, said])))
}

function key(server: string, ...parts: readonly string[]): string {
  return ['channel', server, ...parts].map(keyPart).join(':')
}

/** One component, percent-encoded, so that no text of a server can reach into the next one; what is long is hashed. */
function keyPart(text: string): string {
  if (PLAIN.test(text)) return text
  if (text.length > LONGEST || !text.isWellFormed()) return `hash:${hashOf(text)}`
  return encodeURIComponent(text)
}

/** As UTF-16: in UTF-8 all half characters are the same. */
function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf16le').digest('hex').slice(0, 32)
}
