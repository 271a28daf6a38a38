import { createHash } from 'node:crypto'
import { redact } from './redaction.ts'

const LONGEST = 200
const PLAIN = /^[A-Za-z0-9_.~-]{1,200}$/
const LOOKS_SECRET = /^(?:hub_|sk-|gh[ousp]_|github_pat_|xox|AIza|AKIA|ASIA|eyJ)|token|bearer/i

/**
 * One component of a key. Components are percent-encoded, so that no text of a server can reach into
 * the next one; what is long, looks secret or holds control characters is replaced by its hash.
 */
export function keyPart(text: string): string {
  if (PLAIN.test(text) && !LOOKS_SECRET.test(text)) return text
  const whole = text.toWellFormed()
  if (whole !== text || whole.length > LONGEST * 2 || Array.from(whole).length > LONGEST || /\p{Cc}/u.test(whole) || redact(whole) !== whole) {
    return `hash:${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
  }
  return encodeURIComponent(whole)
}
