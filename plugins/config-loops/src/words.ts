import leven from 'leven'

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** A name from a file as a diagnostic may show it: bounded, without control, bidi or invisible characters. */
export function shown(name: string): string {
  const clean = name.slice(0, 200).replace(HIDDEN, '?')
  return clean.length > 60 ? `${clean.slice(0, 59)}…` : clean
}

/** A word of a command line as a person must see it before saying yes: whole, with what is invisible spelled out. */
export function quoted(word: string): string {
  if (/^[\w@%+=:,./~-]+$/.test(word)) return word
  return JSON.stringify(word).replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** What other clients and dialects call a field, and what it is here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  disabled: 'enabled',
  environment: 'env',
  mcpservers: 'server',
  timeout: 'request_timeout_ms',
  type: 'kind',
  url: 'endpoint',
}

/** The known name that `name` was probably meant to be. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plain = folded(name)
  const meant = Object.hasOwn(ELSEWHERE, plain) ? ELSEWHERE[plain] : undefined
  if (meant !== undefined && known.includes(meant)) return meant
  let best: string | undefined
  let least = Math.min(3, Math.floor(plain.length / 3)) + 1
  for (const candidate of known) {
    const distance = leven(plain, folded(candidate))
    if (distance >= least) continue
    least = distance
    best = candidate
  }
  return best
}

/** `inherit_env`, `inherit-env` and `inheritEnv` are one word to a person. */
function folded(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[-_\s]/g, '')
}
