import type { Host } from '../types/index.ts'
import type { Taps } from './hooks.ts'

/** The version of the plugin interface. It moves only when a hook breaks. */
export const API_VERSION = 1

/** Ends what a plugin's `setup` began. */
export type Dispose = () => void | Promise<void>

/** Where a plugin writes what a person may want to read later. Never secrets. */
export interface Log {
  info(message: string): void
  warn(message: string): void
}

/** What a plugin is given. */
export interface PluginContext {
  readonly hooks: Taps
  readonly host: Host
  readonly log: Log
}

/**
 * A plugin: plain data with one function, and only types from core, because separately installed
 * packages do not share modules.
 */
export interface Plugin {
  /** Unique among the plugins of one kernel. */
  readonly name: string
  readonly api: typeof API_VERSION
  /** Taps hooks. `options` are those of `tapline.*` for this plugin, unchecked. */
  setup(
    context: PluginContext,
    options: Readonly<Record<string, unknown>>,
  ): Dispose | void | Promise<Dispose | void>
}
