import { isTable } from './document.ts'

type Check = (value: unknown) => boolean

/**
 * Whether the schema allows the fields of an entry for certain. The validator takes more memory than all else that
 * reads files, and what most people write needs none; whatever this is not sure of, it leaves to the schema.
 */
export function isPlain(entry: unknown): boolean {
  return (
    isTable(entry) &&
    Object.entries(entry).every(([key, value]) => Object.hasOwn(PLAIN, key) && PLAIN[key]!(value))
  )
}

const EXPOSURES = ['codemode', 'deferred', 'direct', 'hidden']

const oneOf =
  (...known: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && known.includes(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && (value as unknown[]).every(check)
const mapOf =
  (name: RegExp, check: Check): Check =>
  (value) =>
    isTable(value) &&
    Object.entries(value).every(([key, inner]) => key !== '__proto__' && name.test(key) && check(inner))

const isText: Check = (value) => typeof value === 'string'
const isBoolean: Check = (value) => typeof value === 'boolean'
const isWord: Check = (value) => typeof value === 'string' && !value.includes('\0')
const saysSomething: Check = (value) => typeof value === 'string' && value.trim() !== ''
const isCount: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 2_147_483_647

const PLAIN: Readonly<Record<string, Check>> = {
  name: (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,32}$/.test(value) && value !== '__proto__',
  kind: oneOf('stdio', 'streamable_http'),
  enabled: isBoolean,
  description: isText,
  command: isWord,
  args: listOf(isWord),
  env: mapOf(/^[^=\0]+$/, isWord),
  cwd: isWord,
  inherit_env: isBoolean,
  request_timeout_ms: isCount,
  inject_summary: isBoolean,
  inject_and_run: isBoolean,
  push: mapOf(/^/, saysSomething),
  subscribe: listOf(saysSomething),
  channel: isBoolean,
  naming: oneOf('original', 'mcp', 'server'),
  exposure: oneOf(...EXPOSURES),
  tool_exposure: mapOf(/^/, oneOf(...EXPOSURES)),
}
