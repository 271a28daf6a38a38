import type { ConfigContext, ConfigState, Diagnostic, HostPaths, Kernel } from '@tapline/core'
import type { TrustStore } from '../state/trust.ts'
import { soundState } from './sound.ts'

/** What reading the configuration needs. */
export interface ConfigurationOptions {
  readonly paths: HostPaths
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether pi trusts the project. Looked at anew whenever the configuration is read. */
  readonly projectTrusted: boolean
  readonly trust: TrustStore
  /** Servers that other extensions have registered by now. */
  registered(): ConfigContext['registered']
}

/** Runs the `config` hook: the servers of every dialect, what is wrong, and what a person must be asked. */
export async function readConfiguration(kernel: Kernel, options: ConfigurationOptions): Promise<ConfigState> {
  const { paths, env, projectTrusted, trust } = options
  const context: ConfigContext = {
    ...paths,
    env,
    projectTrusted,
    registered: options.registered(),
    trustOf: (path, directory, content) => trust.answer(path, directory, content),
    signal: AbortSignal.timeout(30_000),
  }
  const state = soundState(
    await kernel.hooks.config.promise({ servers: [], diagnostics: [], questions: [] }, context),
  )
  return { ...state, diagnostics: state.diagnostics.map(placed) }
}

/** With the file and the line in its sentence, since two files may have the same mistake. */
function placed(diagnostic: Diagnostic): Diagnostic {
  const { message, path, line } = diagnostic
  if (path === undefined || message.includes(path)) return diagnostic
  return { ...diagnostic, message: `${message} (${line === undefined ? path : `${path}:${line}`})` }
}
