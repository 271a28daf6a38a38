interface Rule {
  readonly kind: string
  readonly pattern: RegExp
  /** What stays in front of and behind the mark; nothing when absent. */
  readonly replace?: (mark: string, groups: readonly (string | undefined)[]) => string
}

const keepFirst = (mark: string, groups: readonly (string | undefined)[]): string =>
  `${groups[0] ?? ''}${mark}`

/** Words between `authorization:` and the secret. */
const SCHEME = 'basic|bearer|digest|negotiate|token|apikey'
const SECRET_NAME = 'token|secret|passw(?:or)?d|pwd|api[ _-]?key|credential|authorization'
/** Quotes may be escaped: JSON within JSON. */
const QUOTE = '\\\\?["\']'

/**
 * `name: value`, `NAME=value` and JSON pairs whose name speaks of a secret: name, quotes and scheme stay.
 * A quoted value goes to its quote, another one to the next blank or delimiter.
 */
const PAIR = new RegExp(
  `((?:${QUOTE})?[\\w.-]{0,60}(?:${SECRET_NAME})[\\w.-]{0,60}(?:${QUOTE})?\\s{0,3}[:=]\\s{0,3}(?:(?:${SCHEME})\\s{1,3})?)` +
    `(?:(${QUOTE})(?!\\[REDACTED|(?:${SCHEME})\\s)(?:(?!\\2)[^\\n]){4,2000}(?=\\2)` +
    `|((?:${QUOTE})?)(?!\\[REDACTED|(?:${SCHEME})\\s)(?:[^\\s"',;}&\\\\]|\\\\(?!["'])){4,})`,
  'gi',
)

/** What counts as a secret. Every pattern is linear: text from a server is matched against it. */
const RULES: readonly Rule[] = [
  {
    kind: 'private-key',
    pattern: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  },
  { kind: 'jwt', pattern: /\beyJ[A-Za-z0-9_-]{5,2000}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?/g },
  {
    kind: 'url-credentials',
    pattern: /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@:]{0,200}:[^\s/?#]{1,500}@/gi,
    replace: (mark, groups) => `${groups[0] ?? ''}${mark}@`,
  },
  {
    kind: 'callback-url',
    pattern: /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?\/[^\s?#]{0,200}callback[^\s]*/gi,
  },
  {
    kind: 'login-url',
    pattern: /\bhttps?:\/\/[^\s?#]{1,300}(?:login|authorize|oauth|signin|sso)[^\s?#]{0,200}\?[^\s]+/gi,
  },
  {
    kind: 'bearer',
    pattern: /(\bbearer(?:\\?["'])?[\s:=]{1,20}(?:\\?["'])?)(?!\[REDACTED)[^\s,;"'\\]+/gi,
    replace: keepFirst,
  },
  { kind: 'api-key', pattern: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{8,}/g },
  { kind: 'stripe-key', pattern: /(?<![A-Za-z0-9])[sprw]k_(?:live|test)_[A-Za-z0-9]{8,}/g },
  { kind: 'aws-key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{12,}/g },
  { kind: 'github-token', pattern: /(?<![A-Za-z0-9])(?:gh[ousrp]_|github_pat_)[A-Za-z0-9_]{10,}/g },
  { kind: 'slack-token', pattern: /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{8,}/g },
  { kind: 'google-key', pattern: /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{20,}/g },
  { kind: 'hub-token', pattern: /(?<![A-Za-z0-9])hub_(?:agent|hs|ep)_[^\s,;"']+/gi },
  {
    kind: 'secret',
    pattern: PAIR,
    replace: (mark, [before, quote, mayQuote]) => `${before ?? ''}${quote ?? mayQuote ?? ''}${mark}`,
  },
]

/** One pass over clean text: anything that could begin a match of any rule. */
const HINT =
  /BEGIN|eyJ|:\/\/|bearer|sk-|[sprw]k_|AKIA|ASIA|gh[ousrp]_|github_|xox|AIza|hub_|token|secret|passw|pwd|key|credential|authorization/i

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
      const groups = rest.slice(
        0,
        rest.findIndex((part) => typeof part === 'number'),
      ) as (string | undefined)[]
      return replace ? replace(mark, groups) : mark
    })
  }
  return redacted
}
