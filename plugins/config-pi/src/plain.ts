import { isFields } from './fields.ts'
import type { EntryKind } from './schema.ts'
import { FORMATS } from './urls.ts'

type Check = (value: unknown) => boolean

/**
 * Whether the schema allows an entry for certain. The validator takes more memory than all else that reads files, and
 * what most people write needs none; whatever this is not sure of, it leaves to the schema.
 */
export function isPlain(kind: EntryKind, entry: unknown): boolean {
  if (!isFields(entry) || Object.getPrototypeOf(entry) !== Object.prototype) return false
  const checks = PLAIN[kind]
  const plain = ([key, value]: readonly [string, unknown]): boolean =>
    Object.hasOwn(checks, key) && checks[key]!(value)
  return entry[REQUIRED[kind]] !== undefined && Object.entries(entry).every(plain)
}

const REQUIRED = { stdio: 'command', http: 'url' } as const satisfies Record<EntryKind, string>
const EXPOSURES = ['codemode', 'deferred', 'direct', 'hidden', 'codemode-deferred']

const oneOf =
  (...known: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && known.includes(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && [...(value as unknown[])].every(check)
const mapOf =
  (name: RegExp, check: Check): Check =>
  (value) =>
    isFields(value) &&
    Object.entries(value).every(([key, inner]) => key !== '__proto__' && name.test(key) && check(inner))

const isText: Check = (value) => typeof value === 'string'
const isBoolean: Check = (value) => typeof value === 'boolean'
const isWord: Check = (value) => typeof value === 'string' && !value.includes('\0')
const saysSomething: Check = (value) => typeof value === 'string' && value.trim() !== ''

const OF_BOTH: Readonly<Record<string, Check>> = {
  enabled: isBoolean,
  timeout: (value) => Number.isFinite(value) && (value as number) > 0,
  description: isText,
  exposure: oneOf(...EXPOSURES),
  toolExposure: mapOf(/^/, oneOf(...EXPOSURES)),
  push: mapOf(/^/, saysSomething),
  subscribe: listOf(saysSomething),
  channel: isBoolean,
}

const PLAIN: Readonly<Record<EntryKind, Readonly<Record<string, Check>>>> = {
  stdio: {
    ...OF_BOTH,
    type: oneOf('stdio'),
    command: (value) => isWord(value) && saysSomething(value),
    args: listOf(isWord),
    env: mapOf(/^[^=\0]+$/, isText),
    cwd: isWord,
    inheritEnv: isBoolean,
  },
  http: {
    ...OF_BOTH,
    type: oneOf('http', 'streamable-http'),
    url: (value) => typeof value === 'string' && FORMATS['http-url']!(value),
    headers: mapOf(/^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/, isText),
  },
}
