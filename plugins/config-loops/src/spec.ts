import { join, resolve } from 'node:path'
import type {
  Exposure,
  PushPolicies,
  ReconnectSpec,
  ServerSource,
  ServerSpec,
  ToolNaming,
  TransportSpec,
} from '@tapline/core'
import type { Table } from './document.ts'
import type { Schema } from './schema.ts'

/** What reading an entry needs to know. */
export interface EntryOrigin {
  readonly source: ServerSource & { readonly scope: 'user' | 'project' }
  readonly cwd: string
  readonly home: string
  readonly schema: Schema
}

/** The server that a valid entry describes. */
export function specOf(
  name: string,
  kind: 'stdio' | 'streamable_http',
  raw: Table,
  origin: EntryOrigin,
): ServerSpec {
  const entry = raw as Partial<{
    description: string
    request_timeout_ms: number
    reconnect: Partial<Record<'initial_ms' | 'max_ms' | 'max_attempts', number>>
    naming: ToolNaming
    exposure: Exposure
    tool_exposure: Record<string, Exposure>
    subscribe: readonly string[]
    channel: boolean
  }>
  return {
    name,
    dialect: 'mcp.toml',
    source: origin.source,
    enabled: raw.enabled !== false,
    ...(entry.description === undefined ? {} : { description: entry.description }),
    transport: kind === 'stdio' ? stdioOf(raw, origin) : httpOf(raw),
    requestTimeoutMs: entry.request_timeout_ms ?? 30_000,
    reconnect: reconnectOf(entry.reconnect ?? {}),
    naming: entry.naming ?? 'original',
    exposure: entry.exposure ?? 'direct',
    toolExposure: { ...entry.tool_exposure },
    results: { maxBytes: 65_536, overflow: 'temporary-file' },
    push: pushOf(raw),
    ...(entry.subscribe === undefined ? {} : { subscribe: [...entry.subscribe] }),
    ...(entry.channel === undefined ? {} : { channel: entry.channel }),
  }
}

/** One delay alone may lie beyond the other's default, which then follows it. */
function reconnectOf({
  initial_ms,
  max_ms,
  max_attempts,
}: Partial<Record<'initial_ms' | 'max_ms' | 'max_attempts', number>>): ReconnectSpec {
  return {
    initialMs: initial_ms ?? Math.min(500, max_ms ?? 500),
    maxMs: max_ms ?? Math.max(30_000, initial_ms ?? 0),
    maxAttempts: max_attempts ?? 20,
  }
}

function pushOf({ inject_summary: summary, inject_and_run: run, push }: Table): PushPolicies {
  const short = run === true ? { default: 'run' } : summary === true ? { default: 'summary' } : {}
  return { ...short, ...(push as PushPolicies | undefined) }
}

function stdioOf(raw: Table, { source, cwd, home }: EntryOrigin): TransportSpec {
  const { args = [], env = {}, cwd: folder } = raw as { args?: readonly unknown[]; env?: Table; cwd?: string }
  // A project's server runs in its project, also when it is lent to a run elsewhere.
  const place =
    folder === undefined
      ? source.scope === 'project'
        ? cwd
        : undefined
      : resolve(cwd, expandHome(folder, home))
  return {
    type: 'stdio',
    command: expandHome(raw.command as string, home),
    args: args.map((argument) => expandHome(String(argument), home)),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
    ...(place === undefined ? {} : { cwd: place }),
    inheritEnv: (raw.inherit_env as boolean | undefined) ?? source.scope === 'user',
  }
}

function httpOf(raw: Table): TransportSpec {
  const { endpoint, auth, sse_idle_timeout_ms, body_cap_bytes } = raw as {
    endpoint: string
    auth?: { token_keychain_ref: string }
    sse_idle_timeout_ms?: number
    body_cap_bytes?: number
  }
  return {
    type: 'streamable-http',
    url: endpoint,
    headers: {},
    ...(auth === undefined ? {} : { auth: { kind: 'bearer', ref: auth.token_keychain_ref } }),
    sseIdleTimeoutMs: sse_idle_timeout_ms ?? 60_000,
    bodyCapBytes: body_cap_bytes ?? 1024 * 1024,
  }
}

/** `~` and `~/…` name the home directory, as in a shell. */
function expandHome(value: string, home: string): string {
  if (value === '~') return home
  return value.startsWith('~/') || (process.platform === 'win32' && value.startsWith('~\\'))
    ? join(home, value.slice(2))
    : value
}
