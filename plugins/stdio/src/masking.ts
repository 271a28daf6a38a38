type Environment = Readonly<Record<string, string | undefined>>

const MARK = '…'

/** Names of variables that give their values away as secret. */
const SECRET_VARIABLE =
  /key|token(?!iz)|secret|passw|passphrase|cred|auth(?!or(?!iz))|cookie|private|dsn|(?:^|_)pass$|_pwd$/i
/** Names within a text: stricter, since there every second word could be one. */
const SECRET_NAME =
  /token(?!iz)|secret|passw|passphrase|credential|authorization|cookie|(?:api|access|private)[-_.]?key|[-_.](?:key|pass|pwd)$|(?:^|[-_.])(?:auth|dsn)$/i
/** What is shorter stands in too many words. */
const SHORTEST_GIVEN = 6
const SHORTEST_INHERITED = 8

/** Words, numbers, paths, locales and bare addresses: they explain a failure and are no secret. */
const HARMLESS = [
  /^[A-Za-z]{1,30}(?:[-_., ][A-Za-z]{1,30})*$/,
  /^[\d.,:-]+$/,
  /^(?:~|\.\.?)?\/(?!.*:\/\/)|^[A-Za-z]:\\/,
  /^[a-z]{2,3}_[A-Z]{2}(?:\.[\w-]+)?$/,
  /^(?:[a-z]+:\/\/)?[a-z.-]+(?::\d+)?\/?$/,
]
const PASSWORD = /:\/\/[^\s/?#@:]{0,200}:([^\s/?#]{4,500})@/

/**
 * Values that must not be shown, longest first: what taps have added, what the entry gives and is not
 * plainly harmless, and what the server may have inherited under a name that speaks of a secret.
 */
export function secretsOf(host: Environment, entry: Environment, added: Environment): readonly string[] {
  const secrets = new Set<string>()
  const look = (layer: Environment, shortest: number, isSecret: (name: string, value: string) => boolean) => {
    for (const [name, value] of Object.entries(layer)) {
      if (value === undefined || value.length < shortest) continue
      if (SECRET_VARIABLE.test(name) || isSecret(name, value))
        for (const form of formsOf(value)) secrets.add(form)
      const password = PASSWORD.exec(value)?.[1]
      if (password !== undefined) secrets.add(password)
    }
  }
  look(host, SHORTEST_INHERITED, () => false)
  look(entry, SHORTEST_GIVEN, (_, value) => !HARMLESS.some((form) => form.test(value)))
  // A dialect repeats here what it has filled in; what is different is a credential.
  look(added, SHORTEST_GIVEN, (name, value) => entry[name] !== value)
  return [...secrets].toSorted((a, b) => b.length - a.length)
}

/** As it is, as JSON and util.inspect write it, and each of several lines: the first may be lost to the bounds. */
function formsOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  const long = lines.length > 1 ? lines.filter(({ length }) => length >= SHORTEST_INHERITED) : []
  return [value, JSON.stringify(value).slice(1, -1), ...long]
}

/** Texts that are secret by their form. Every pattern is linear, or bounded from each place where it may begin. */
const FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  /(?<=\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@:]{0,200}:[^\s/?#]{1,500}(?=@)/gi,
  /(?<=\bbearer[\s:="']{1,5})(?!(?:auth\w*|tokens?|credentials?|scheme|is|was)\b)[^\s,;"'\\]{4,}/gi,
  /\beyJ[A-Za-z0-9_-]{5,2000}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?/g,
  /(?<![A-Za-z0-9])(?:sk-|[sprw]k_(?:live|test)_|gh[ousrp]_|github_pat_|glpat-|xox[a-z]-|AIza|npm_)[A-Za-z0-9_-]{8,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{12,}/g,
]

/** `text` without these values and without what looks like a secret. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.reduce((rest, secret) => rest.replaceAll(secret, MARK), text)
  return FORMS.reduce((rest, form) => rest.replace(form, MARK), maskPairs(known))
}

/** A name that nothing of a name stands before, and what separates it from its value. */
const PAIR = /(?<![\w.-])([\w.-]+)(?:\\?["'])?[^\S\n]{0,3}([:=])[^\S\n]{0,3}/g
const SCHEME = /(?:basic|bearer|digest|negotiate|token|apikey)[^\S\n]{1,3}/iy
const QUOTE = /\\?["'`]/y
const BARE = /[^\s"'`,;}&\\]+/y
/** By the quote before it: to the same quote, or to the end of the line. */
const QUOTED: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\\n]|\\[^\n])+/y,
  "'": /(?:[^'\\\n]|\\[^\n])+/y,
  '`': /(?:[^`\\\n]|\\[^\n])+/y,
}
const QUOTED_TWICE = /(?:(?!\\["'`])[^\n])+/y
/** What is said of a secret rather than being one, and places in files. */
const REMARK =
  /^(?:an?|the|is|was|not|no|must|missing|required|invalid|expired|undefined|null|none|true|false|unset|empty|set|wrong|unknown|unauthorized|rejected|denied|cannot|failed|\d{1,6}(?::\d{1,6})?\)?:?|…)$/i

/** Masks the values of `NAME=value`, `name: value` and JSON pairs whose names speak of a secret. */
function maskPairs(text: string): string {
  let masked = ''
  let from = 0
  const take = (pattern: RegExp, at: number): string => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0] ?? ''
  }
  for (const { index, 0: whole, 1: name = '', 2: sign } of text.matchAll(PAIR)) {
    if (index < from || !SECRET_NAME.test(name)) continue
    let start = index + whole.length
    let quote = take(QUOTE, start)
    start += quote.length
    start += take(SCHEME, start).length
    if (quote === '') {
      quote = take(QUOTE, start)
      start += quote.length
    }
    const value = take(quote === '' ? BARE : (QUOTED[quote] ?? QUOTED_TWICE), start)
    if (value === '' || (quote === '' && sign === ':' && REMARK.test(value))) continue
    masked += text.slice(from, start) + MARK
    from = start + value.length
  }
  return masked + text.slice(from)
}
