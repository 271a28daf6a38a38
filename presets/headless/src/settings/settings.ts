import type { Diagnostic, ResultSpec, ServerSpec, ToolNaming } from '@tapline/core'

/** The content of one `tapline.*` file, as its schema has it. */
export interface SettingsFile {
  readonly plugins?: readonly string[]
  readonly disable?: readonly string[]
  readonly options?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly naming?: ToolNaming
  readonly apply?: 'now' | 'next-session'
  readonly results?: { readonly max_bytes?: number; readonly overflow?: ResultSpec['overflow'] }
  readonly push?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** A plugin that a settings file names, and the file it is found from. */
export interface NamedPlugin {
  readonly name: string
  readonly from: string
}

/** All settings files together; the project's win over the user's. */
export interface Settings {
  readonly plugins: readonly NamedPlugin[]
  readonly disable: ReadonlySet<string>
  readonly options: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly naming?: ToolNaming
  readonly apply?: 'now' | 'next-session'
  readonly results?: SettingsFile['results']
  readonly push: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly diagnostics: readonly Diagnostic[]
}

/** Settings that say nothing. */
export const NO_SETTINGS: Settings = { plugins: [], disable: new Set(), options: {}, push: {}, diagnostics: [] }

/** Adds a file to settings that were read before it. */
export function mergeSettings(settings: Settings, path: string, file: SettingsFile): Settings {
  const { naming = settings.naming, apply = settings.apply, results = settings.results } = file
  return {
    plugins: [...settings.plugins, ...(file.plugins ?? []).map((name) => ({ name, from: path }))],
    disable: new Set([...settings.disable, ...(file.disable ?? [])]),
    options: mergeTables(settings.options, file.options),
    push: mergeTables(settings.push, file.push),
    diagnostics: settings.diagnostics,
    ...(naming ? { naming } : {}),
    ...(apply ? { apply } : {}),
    ...(results ? { results } : {}),
  }
}

/** A server as the settings want it, over what its dialect says. */
export function applySettings(server: ServerSpec, settings: Settings): ServerSpec {
  const { max_bytes: maxBytes, overflow } = settings.results ?? {}
  return {
    ...server,
    naming: settings.naming ?? server.naming,
    results: { maxBytes: maxBytes ?? server.results.maxBytes, overflow: overflow ?? server.results.overflow },
    push: { ...settings.push['*'], ...server.push, ...settings.push[server.name] },
  }
}

function mergeTables<T>(
  base: Readonly<Record<string, Readonly<Record<string, T>>>>,
  added: Readonly<Record<string, Readonly<Record<string, T>>>> | undefined,
): Readonly<Record<string, Readonly<Record<string, T>>>> {
  const merged: Record<string, Readonly<Record<string, T>>> = { ...base }
  for (const [name, table] of Object.entries(added ?? {})) merged[name] = { ...merged[name], ...table }
  return merged
}
