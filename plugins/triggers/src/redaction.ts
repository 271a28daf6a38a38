interface Rule {
  readonly kind: string
  readonly pattern: RegExp
  /** What stays in front of and behind the mark; nothing when absent. */
  readonly replace?: (mark: string, groups: readonly (string | undefined)[]) => string
}

const keepFirst = (mark: string, groups: readonly (string | undefined)[]): string => `${groups[0] ?? ''}${mark}`

/** What counts as a secret. Every pattern is linear: text from a server is matched against it. */
const RULES: readonly Rule[] = [
  { kind: 'private-key', pattern: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g },
  { kind: 'jwt', pattern: /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?/g },
  { kind: 'url-credentials', pattern: /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,200}:[^\s/@]{1,500}@/gi, replace: (mark, groups) => `${groups[0] ?? ''}${mark}@` },
  { kind: 'callback-url', pattern: /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?\/[^\s?#]{0,200}callback[^\s]*/gi },
  { kind: 'login-url', pattern: /\bhttps?:\/\/[^\s?#]{1,300}(?:login|authorize|oauth|signin|sso)[^\s?#]{0,200}\?[^\s]+/gi },
  { kind: 'bearer', pattern: /(\bbearer[\s:=]{1,5})(?!\[)[^\s,;"']+/gi, replace: keepFirst },
  { kind: 'api-key', pattern: /\bsk-[A-Za-z0-9_-]{8,}/g },
  { kind: 'stripe-key', pattern: /\b[sprw]k_(?:live|test)_[A-Za-z0-9]{8,}/g },
  { kind: 'aws-key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b/g },
  { kind: 'github-token', pattern: /\b(?:gh[ousp]_|github_pat_)[A-Za-z0-9_]{10,}/g },
  { kind: 'slack-token', pattern: /\bxox[a-z]-[A-Za-z0-9-]{8,}/g },
  { kind: 'google-key', pattern: /\bAIza[A-Za-z0-9_-]{20,}/g },
  { kind: 'hub-token', pattern: /\bhub_(?:agent|hs|ep)_[^\s,;"']+/gi },
  {
    kind: 'secret',
    pattern:
      /(["']?[\w.-]{0,60}(?:token|secret|passw(?:or)?d|pwd|api[ _-]?key|credential|authorization)[\w.-]{0,60}["']?\s{0,3}[:=]\s{0,3}["']?)(?!\[REDACTED)[^\s"',;}&]{4,}/gi,
    replace: keepFirst,
  },
]

/** One pass over clean text: anything that could begin a match of any rule. */
const HINT = /BEGIN|eyJ|:\/\/|bearer|sk-|[sprw]k_|AKIA|ASIA|gh[ousp]_|github_|xox|AIza|hub_|token|secret|passw|pwd|key|credential|authorization/i

/** Whether {@link redact} would look closer at this text. */
export function mayHoldSecret(text: string): boolean {
  return HINT.test(text)
}

/** `text` with everything that looks like a secret replaced by `[REDACTED:<kind>]`. */
export function redact(text: string): string {
  if (!mayHoldSecret(text)) return text
  let redacted = text
  for (const { kind, pattern, replace } of RULES) {
    const mark = `[REDACTED:${kind}]`
    redacted = redacted.replace(pattern, (_match: string, ...rest: unknown[]) => {
      const groups = rest.slice(0, rest.findIndex((part) => typeof part === 'number')) as (string | undefined)[]
      return replace ? replace(mark, groups) : mark
    })
  }
  return redacted
}
