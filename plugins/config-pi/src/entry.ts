import { join, resolve } from 'node:path'
import type {
  Exposure,
  HttpTransportSpec,
  PushPolicies,
  ServerSource,
  ServerSpec,
  StdioTransportSpec,
} from '@tapline/core'
import { type Fields, isFields } from './fields.ts'
import { rulesOf } from './rules.ts'
import type { EntryKind, Finding, Schema, UnknownField } from './schema.ts'
import { nearest, shown } from './words.ts'

/** What reading an entry needs to know. */
export interface EntryOrigin {
  readonly dialect: 'mcp.json' | 'registered'
  readonly source: ServerSource
  readonly cwd: string
  readonly home: string
  readonly schema: Schema
}

/** A server, or why the entry gives none; either way with what a person should know. */
export interface EntryResult {
  readonly spec?: ServerSpec
  readonly errors: readonly Finding[]
  readonly warnings: readonly Finding[]
}

/** Timers beyond this fire at once. */
const LONGEST_MS = 2 ** 31 - 1

/** Reads one entry of the `mcpServers` shape as pi does. */
export function readEntry(name: string, raw: unknown, origin: EntryOrigin): EntryResult {
  if (!/^[A-Za-z0-9_-]+$/.test(name) || name === '__proto__') {
    return refused(`invalid server name "${shown(name)}" (use letters, digits, "_" and "-")`)
  }
  if (!isFields(raw)) return refused('the entry must be an object')
  const kind = kindOf(raw)
  if (typeof kind === 'object') return refused(kind.message, ['type'])
  const { errors, unknown } = origin.schema.check(kind, raw)
  const rules = rulesOf(kind, raw)
  const warnings = unknown.map((field) => unknownWarning(kind, field, origin.schema))
  const broken = errors.length > 0 ? errors : rules.errors
  if (broken.length > 0) return { errors: broken, warnings }
  return { spec: specOf(name, kind, raw, origin), errors: [], warnings: [...warnings, ...rules.warnings] }
}

/** Whether an entry changes a server that is defined elsewhere instead of defining one. */
export function isOverride(entry: Fields): boolean {
  return entry.command === undefined && entry.url === undefined && entry.type === undefined
}

/** A server's name as it is compared: `-` counts as `_`. */
export function keyOf(name: string): string {
  return name.replaceAll('-', '_')
}

function refused(message: string, field: readonly string[] = []): EntryResult {
  return { errors: [{ message, field }], warnings: [] }
}

function kindOf(entry: Fields): EntryKind | { readonly message: string } {
  const { type, url, command } = entry
  if (type === 'sse') {
    return {
      message:
        'legacy SSE transport is not supported; use the streamable HTTP URL, which is often the same address with /mcp instead of /sse',
    }
  }
  if (type !== undefined && type !== 'stdio' && type !== 'http' && type !== 'streamable-http') {
    return { message: 'type must be "stdio", "http", or "streamable-http"' }
  }
  if (typeof url === 'string' && type !== 'stdio') return 'http'
  if (typeof command === 'string' && (type === undefined || type === 'stdio')) return 'stdio'
  const meant = Object.keys(entry).flatMap((key) => {
    const near = nearest(key, ['command', 'url'])
    return near === undefined || key === near ? [] : [`; did you mean "${near}" by "${shown(key)}"?`]
  })
  return { message: `it needs either "command" (stdio) or "url" (streamable HTTP)${meant[0] ?? ''}` }
}

function unknownWarning(kind: EntryKind, { key, field, known }: UnknownField, schema: Schema): Finding {
  const name = shown([...field, key].join('.'))
  const other: EntryKind = kind === 'stdio' ? 'http' : 'stdio'
  if (field.length === 0 && schema.fieldsOf(other).includes(key)) {
    return {
      message: `"${name}" is ignored: it belongs to ${other === 'http' ? 'HTTP' : 'stdio'} servers`,
      field: [key],
    }
  }
  const meant = nearest(key, known)
  const hint = meant === undefined ? '' : `; did you mean "${[...field, meant].join('.')}"?`
  return { message: `unknown key "${name}" is ignored${hint}`, field: [...field, key] }
}

function specOf(name: string, kind: EntryKind, raw: Fields, origin: EntryOrigin): ServerSpec {
  const {
    exposure,
    toolExposure = {},
    timeout,
    description,
    push = {},
    subscribe,
    channel,
  } = raw as Partial<{
    exposure: string
    toolExposure: Record<string, string>
    timeout: number
    description: string
    push: PushPolicies
    subscribe: readonly string[]
    channel: boolean
  }>
  return {
    name,
    dialect: origin.dialect,
    source: origin.source,
    enabled: raw.enabled !== false,
    ...(description === undefined ? {} : { description }),
    transport: kind === 'http' ? httpOf(raw) : stdioOf(raw, origin),
    requestTimeoutMs: Math.min(LONGEST_MS, Math.max(1, Math.round((timeout ?? 60) * 1000))),
    reconnect: { initialMs: 500, maxMs: 30_000, maxAttempts: 20 },
    naming: 'mcp',
    exposure: exposureOf(exposure),
    toolExposure: Object.fromEntries(
      Object.entries(toolExposure).map(([tool, value]) => [tool, exposureOf(value)]),
    ),
    results: { maxBytes: 20 * 1024, overflow: 'temporary-file' },
    push: { ...push },
    ...(subscribe === undefined ? {} : { subscribe: [...subscribe] }),
    ...(channel === undefined ? {} : { channel }),
  }
}

function exposureOf(value: string | undefined): Exposure {
  return value === undefined || value === 'codemode-deferred' ? 'codemode' : (value as Exposure)
}

function stdioOf(raw: Fields, { cwd, home }: EntryOrigin): StdioTransportSpec {
  const entry = raw as {
    command: string
    args?: readonly string[]
    env?: Record<string, string>
    cwd?: string
  }
  return {
    type: 'stdio',
    command: expandHome(entry.command, home),
    args: (entry.args ?? []).map((argument) => expandHome(argument, home)),
    env: { ...entry.env },
    ...(entry.cwd === undefined ? {} : { cwd: resolve(cwd, expandHome(entry.cwd, home)) }),
    inheritEnv: raw.inheritEnv !== false,
  }
}

function httpOf(raw: Fields): HttpTransportSpec {
  const { oauth, auth } = raw
  const extra = { ...(oauth === undefined ? {} : { oauth }), ...(auth === undefined ? {} : { auth }) }
  return {
    type: 'streamable-http',
    url: raw.url as string,
    headers: { ...(raw.headers as Record<string, string> | undefined) },
    sseIdleTimeoutMs: 240_000,
    bodyCapBytes: 64 * 1024 * 1024,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

/** `~` and `~/…` name the home directory, as in a shell. */
function expandHome(value: string, home: string): string {
  if (value === '~') return home
  return value.startsWith('~/') || (process.platform === 'win32' && value.startsWith('~\\'))
    ? join(home, value.slice(2))
    : value
}
