import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import path from 'node:path'
import type { FakeModel } from './fake-model.ts'
import { createScratch } from './scratch.ts'
import type { Scratch, ScratchOptions } from './scratch.ts'

/** How a pi is started; what is left out is a fresh scratch directory, its empty project, and no model. */
export interface PiOptions extends ScratchOptions {
  readonly scratch?: Scratch
  readonly cwd?: string
  readonly args?: readonly string[]
  /** Added to a small environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The model that pi talks to; written to models.json. */
  readonly model?: Pick<FakeModel, 'url'>
  /** Keys of models.json's `providers`, beside the fake one. */
  readonly models?: Readonly<Record<string, unknown>>
  /** Keys of settings.json, over the driver's own. */
  readonly settings?: Readonly<Record<string, unknown>>
}

/** A command that starts pi in isolation, for `spawn` or a terminal. */
export interface PiCommand {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly scratch: Scratch
  /** Removes the scratch directory if the driver made it. */
  dispose(): Promise<void>
}

/** The environment of an isolated process: nothing of the developer's shell but paths and language. */
export function isolatedEnv(scratch: Scratch, extra: PiOptions['env'] = {}): Record<string, string> {
  const inherited = ['PATH', 'LANG', 'LC_ALL', 'SHELL', 'USER', 'LOGNAME', 'TZ'].map(
    (name) => [name, process.env[name]] as const,
  )
  const env: Record<string, string | undefined> = {
    ...Object.fromEntries(inherited),
    // Entries say `node`; they must mean the Node that runs pi.
    PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
    HOME: scratch.home,
    TMPDIR: scratch.tmp,
    PI_CODING_AGENT_DIR: scratch.agent,
    PI_OFFLINE: '1',
    PI_SKIP_VERSION_CHECK: '1',
    PI_TELEMETRY: '0',
    ...extra,
  }
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** Writes pi's files into the scratch directory and says how to start it with these further arguments. */
export function preparePi(options: PiOptions = {}, args: readonly string[] = []): PiCommand {
  const { model, models = {}, settings = {} } = options
  const scratch = options.scratch ?? createScratch(options)
  const fake = {
    api: 'openai-completions',
    apiKey: 'sk-not-real',
    models: [{ id: 'fake-1', name: 'Fake One', contextWindow: 128_000, maxTokens: 4096, input: ['text'] }],
  }
  // A second pi on the same scratch keeps what the first one has saved, unless told otherwise.
  if (model || options.models || !existsSync(path.join(scratch.agent, 'models.json'))) {
    scratch.write('agent/models.json', {
      providers: { ...(model && { fake: { ...fake, baseUrl: model.url } }), ...models },
    })
  }
  if (options.settings || !existsSync(path.join(scratch.agent, 'settings.json'))) {
    const own = {
      defaultProvider: 'fake',
      defaultModel: 'fake-1',
      enableInstallTelemetry: false,
      quietStartup: true,
      extensions: ['-builtin:mcp'],
    }
    scratch.write('agent/settings.json', { ...own, ...settings })
  }
  return {
    command: [process.execPath, piCli(), ...args, ...(options.args ?? [])],
    env: isolatedEnv(scratch, options.env),
    cwd: options.cwd ?? scratch.project,
    scratch,
    dispose: async () => (options.scratch ? undefined : scratch.dispose()),
  }
}

/** pi's command-line script. */
function piCli(): string {
  const manifest = findPackageJSON('@earendil-works/pi-coding-agent', import.meta.url)
  if (manifest === undefined) throw new Error('@earendil-works/pi-coding-agent is not installed')
  return path.join(path.dirname(manifest), 'dist/bundle/cli.js')
}

/** Spawns a prepared pi in a group of its own, out of reach of what is typed at the terminal that runs the tests. */
export function spawnPi(
  { command: [file = '', ...args], env, cwd }: PiCommand,
  stdin: 'pipe' | 'ignore',
): ChildProcess {
  return spawn(file, args, { env, cwd, stdio: [stdin, 'pipe', 'pipe'], detached: true })
}
