const MARK = '[REDACTED]'

/** What looks like a secret in the words of a server; `$1` stays. Every pattern is linear. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, MARK],
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@]{1,700}@/gi, `$1${MARK}@`],
  [/(\bauthorization["']?\s?[:=]\s?["']?)(?!\[REDACTED)[^\n"',;]{4,2000}/gi, `$1${MARK}`],
  // A word alone is none: "the bearer credential was not found" is a sentence.
  [
    /(\bbearer[\s:=]{1,20})(?=[^\s,;"'\\]{0,200}[\d._~+/=-]|[^\s,;"'\\]{20})(?!\[REDACTED)[^\s,;"'\\]{6,}/gi,
    `$1${MARK}`,
  ],
  [/(?<![A-Za-z0-9])(?:sk-|gh[ousrp]_|github_pat_|[sprw]k_(?:live|test)_|xox[a-z]-)[A-Za-z0-9_-]{8,}/g, MARK],
  [/\b(?:(?:AKIA|ASIA)[0-9A-Z]{12,}|AIza[A-Za-z0-9_-]{20,})/g, MARK],
  [/\beyJ[A-Za-z0-9_-]{5,2000}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?/g, MARK],
  [
    /((?:token|secret|passw(?:or)?d|pwd|api[_-]?key|credential)[\w.-]{0,60}(?:["']?\s?=\s?|["']\s?:\s?|:)["']?)(?!\[REDACTED)[^\s"',;&}]{4,}/gi,
    `$1${MARK}`,
  ],
]

/** `text` without what looks like a secret, and without the `known` values, longest first. */
export function redactText(text: string, known: readonly string[] = []): string {
  let redacted = text
  for (const value of known) redacted = redacted.replaceAll(value, MARK)
  for (const [pattern, replacement] of RULES) redacted = redacted.replace(pattern, replacement)
  return redacted
}
