import { createHash } from 'node:crypto'
import { mayHoldSecret, redact } from './redaction.ts'

const LONGEST = 200
const PLAIN = /^[A-Za-z0-9_.~-]{1,200}$/

/**
 * One component of a key. Components are percent-encoded, so that no text of a server can reach into
 * the next one; what is long, looks secret or holds control characters is replaced by its hash.
 */
export function keyPart(text: string): string {
  if (PLAIN.test(text) && !mayHoldSecret(text)) return text
  const whole = text.toWellFormed()
  if (
    whole !== text ||
    whole.length > LONGEST * 2 ||
    Array.from(whole).length > LONGEST ||
    /\p{Cc}/u.test(whole) ||
    redact(whole) !== whole
  ) {
    // As UTF-16: in UTF-8 all lone surrogates are the same.
    return `hash:${createHash('sha256').update(text, 'utf16le').digest('hex').slice(0, 32)}`
  }
  return encodeURIComponent(whole)
}
