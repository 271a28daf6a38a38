import { createRequire } from 'node:module'
import type { HostPaths } from '@tapline/core'
import type { PushMode, TaplineOptions } from '../host/options.ts'
import { createTapline, type Tapline } from '../host/tapline.ts'
import { piCredentialStore } from '../state/credentials.ts'
import { isModelProvider } from '../state/model-providers.ts'
import { isTrustedByPi } from '../state/pi-trust.ts'
import { storedProviderToken } from '../state/provider-token.ts'
import { trustStore } from '../state/trust.ts'

/** What a command of the command line is given. */
export interface CommandContext {
  readonly paths: HostPaths
  readonly env: Readonly<Record<string, string | undefined>>
  /** Positional arguments after the command's name. */
  readonly args: readonly string[]
  readonly json: boolean
  readonly undo: boolean
  /** Every project, not only this one. */
  readonly all: boolean
  readonly reason?: string
  readonly forSeconds?: number
  /** What a new rule says. */
  readonly rule?: {
    readonly condition?: string
    readonly action?: string
    readonly repeat?: boolean
    readonly promote?: boolean
  }
  /** A token that is stored or removed, in place of a sign-in. */
  readonly token?: boolean
  /** What --reply names: a tool. */
  readonly reply?: string
  /** What --approve or --no-approve say of project files. */
  readonly approve?: boolean
}

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** A Tapline for one command: no chat, no UI. Diagnostics are collected, not printed. */
export function openTapline(
  context: CommandContext,
  pushes: PushMode,
  options: Partial<Pick<TaplineOptions, 'plugins' | 'onDiagnostic' | 'attempts'>> = {},
): Promise<Tapline> {
  const { paths, env, approve } = context
  return createTapline({
    paths,
    env,
    info: { name: 'tapline', version },
    mode: 'headless',
    pushes,
    projectTrusted: approve ?? isTrustedByPi(paths.agentDir, paths.cwd),
    trust: trustStore(paths.agentDir, approve),
    registered: () => [],
    credentials: [piCredentialStore(paths.agentDir, env)],
    isModelProvider: (name) => isModelProvider(paths.agentDir, name),
    providerToken: storedProviderToken(paths.agentDir, env),
    onDiagnostic: () => undefined,
    ...options,
  })
}
