import type {
  Diagnostic,
  PushPolicies,
  PushPolicy,
  PushRule,
  ResultSpec,
  ServerSpec,
  ToolNaming,
} from '@tapline/core'

type Tables<T> = Readonly<Record<string, Readonly<Record<string, T>>>>

/** What a push table of a server says of one method, or of the server itself (`subscribe`, `channel`). */
export type PushEntry = PushPolicy | PushRule | readonly string[] | boolean

/** The content of one `tapline.*` file, as its schema has it. */
export interface SettingsFile {
  readonly plugins?: readonly string[]
  readonly disable?: readonly string[]
  readonly options?: Tables<unknown>
  readonly naming?: ToolNaming
  readonly apply?: 'now' | 'next-session'
  readonly results?: { readonly max_bytes?: number; readonly overflow?: ResultSpec['overflow'] }
  readonly push?: Tables<PushEntry>
  readonly elicitation?: boolean | Readonly<Record<string, boolean>>
}

/** A plugin that a settings file names, and the file it is found from. */
export interface NamedPlugin {
  readonly name: string
  readonly from: string
  /** The hash of the file that somebody said yes to; nothing else is run. */
  readonly approved?: string
}

/** All settings files together; the project's win over the user's. */
export interface Settings {
  readonly plugins: readonly NamedPlugin[]
  readonly disable: ReadonlySet<string>
  readonly options: Tables<unknown>
  readonly naming?: ToolNaming
  readonly apply?: 'now' | 'next-session'
  readonly results?: SettingsFile['results']
  readonly push: Tables<PushEntry>
  /** Whether a server may ask the person something, by its name; `*` is every other one. */
  readonly elicitation: Readonly<Record<string, boolean>>
  readonly diagnostics: readonly Diagnostic[]
}

/** Settings that say nothing. */
export const NO_SETTINGS: Settings = {
  plugins: [],
  disable: new Set(),
  options: {},
  push: {},
  elicitation: {},
  diagnostics: [],
}

/** Adds a file to settings that were read before it. `approved` has the hashes of plugin files by their names. */
export function mergeSettings(
  settings: Settings,
  path: string,
  file: SettingsFile,
  approved: ReadonlyMap<string, string> = new Map(),
): Settings {
  const { naming = settings.naming, apply = settings.apply } = file
  const results = settings.results || file.results ? { ...settings.results, ...file.results } : undefined
  return {
    plugins: [
      ...settings.plugins,
      ...(file.plugins ?? []).map((name) => {
        const hash = approved.get(name)
        return { name, from: path, ...(hash === undefined ? {} : { approved: hash }) }
      }),
    ],
    disable: new Set([...settings.disable, ...(file.disable ?? [])]),
    options: mergeTables(settings.options, file.options),
    push: mergeTables(settings.push, file.push),
    elicitation: { ...settings.elicitation, ...namedIn(file.elicitation) },
    diagnostics: settings.diagnostics,
    ...(naming ? { naming } : {}),
    ...(apply ? { apply } : {}),
    ...(results ? { results } : {}),
  }
}

/**
 * A server as the settings want it, over what its dialect says. Of its push policies those of its own table come
 * before the dialect's, and these before those of every server: the first pattern that matches counts. `asks`: there is
 * somebody whom servers may ask something.
 */
export function applySettings(server: ServerSpec, settings: Settings, asks = true): ServerSpec {
  const { max_bytes: maxBytes, overflow } = settings.results ?? {}
  const own = Object.entries(settings.push).filter(
    ([name]) => name !== '*' && folded(name) === folded(server.name),
  )
  const tables = own.map(([, table]) => partsOf(table))
  const everywhere = partsOf(settings.push['*'] ?? {})
  const subscribe =
    tables.find((table) => table.subscribe)?.subscribe ?? server.subscribe ?? everywhere.subscribe
  const channel = tables.find((table) => table.channel !== undefined)?.channel ?? server.channel
  return {
    ...server,
    naming: settings.naming ?? server.naming,
    results: {
      maxBytes: maxBytes ?? server.results.maxBytes,
      overflow: overflow ?? server.results.overflow,
    },
    push: [...tables.map((table) => table.push), server.push, everywhere.push].reduce(over),
    ...(subscribe === undefined ? {} : { subscribe }),
    ...(channel === undefined ? {} : { channel }),
    ...(asks && mayAsk(server.name, settings.elicitation) ? {} : { elicitation: false }),
  }
}

function mayAsk(name: string, elicitation: Settings['elicitation']): boolean {
  const own = Object.keys(elicitation).find((key) => key !== '*' && folded(key) === folded(name))
  return elicitation[own ?? '*'] !== false
}

/** One word for all servers is the same as one for every server. */
function namedIn(elicitation: SettingsFile['elicitation'] = {}): Settings['elicitation'] {
  return typeof elicitation === 'boolean' ? { '*': elicitation } : elicitation
}

/** What a table says of methods, and what of the server itself. */
export function partsOf(table: Readonly<Record<string, PushEntry>>): {
  readonly push: PushPolicies
  readonly subscribe?: readonly string[]
  readonly channel?: boolean
} {
  const push: Record<string, PushPolicy | PushRule> = {}
  for (const [method, entry] of Object.entries(table))
    if (typeof entry === 'string' || isRule(entry)) push[method] = entry
  const { subscribe, channel } = table
  return {
    push,
    ...(isList(subscribe) ? { subscribe } : {}),
    ...(typeof channel === 'boolean' ? { channel } : {}),
  }
}

function isRule(entry: PushEntry): entry is PushRule {
  return typeof entry === 'object' && !Array.isArray(entry)
}

function isList(entry: PushEntry | undefined): entry is readonly string[] {
  return Array.isArray(entry)
}

function mergeTables<T>(base: Tables<T>, added: Tables<T> = {}): Tables<T> {
  const merged: Record<string, Readonly<Record<string, T>>> = { ...base }
  for (const [name, table] of Object.entries(added)) merged[name] = over(table, merged[name] ?? {})
  return merged
}

/** Both tables; what the first one says counts and stands first. */
function over<T>(
  first: Readonly<Record<string, T>>,
  second: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  const rest = Object.entries(second).filter(([key]) => !Object.hasOwn(first, key))
  return { ...first, ...Object.fromEntries(rest) }
}

/** Server names are equal when they differ in `-` and `_` alone. */
export function folded(name: string): string {
  return name.replaceAll('-', '_')
}
