import type { Diagnostic, ResultSpec, ServerSpec, ToolNaming } from '@tapline/core'

type Tables<T> = Readonly<Record<string, Readonly<Record<string, T>>>>

/** The content of one `tapline.*` file, as its schema has it. */
export interface SettingsFile {
  readonly plugins?: readonly string[]
  readonly disable?: readonly string[]
  readonly options?: Tables<unknown>
  readonly naming?: ToolNaming
  readonly apply?: 'now' | 'next-session'
  readonly results?: { readonly max_bytes?: number; readonly overflow?: ResultSpec['overflow'] }
  readonly push?: Tables<string>
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
  readonly push: Tables<string>
  readonly diagnostics: readonly Diagnostic[]
}

/** Settings that say nothing. */
export const NO_SETTINGS: Settings = {
  plugins: [],
  disable: new Set(),
  options: {},
  push: {},
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
    diagnostics: settings.diagnostics,
    ...(naming ? { naming } : {}),
    ...(apply ? { apply } : {}),
    ...(results ? { results } : {}),
  }
}

/**
 * A server as the settings want it, over what its dialect says. Of its push policies those of its own table come
 * before the dialect's, and these before those of every server: the first pattern that matches counts.
 */
export function applySettings(server: ServerSpec, settings: Settings): ServerSpec {
  const { max_bytes: maxBytes, overflow } = settings.results ?? {}
  const own = Object.entries(settings.push).filter(
    ([name]) => name !== '*' && folded(name) === folded(server.name),
  )
  return {
    ...server,
    naming: settings.naming ?? server.naming,
    results: {
      maxBytes: maxBytes ?? server.results.maxBytes,
      overflow: overflow ?? server.results.overflow,
    },
    push: [...own.map(([, table]) => table), server.push, settings.push['*'] ?? {}].reduce(over),
  }
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
