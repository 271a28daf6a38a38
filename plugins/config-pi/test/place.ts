import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ConfigContext, ConfigState, ConnectRequest, Host, ServerSpec } from '@tapline/core'
import { TaplineError } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { afterEach } from 'vitest'
import { configPi } from '../src/index.ts'

/** A home, an agent directory and a project in a temporary directory, and the plugin in a real kernel. */
export interface Place {
  readonly home: string
  readonly cwd: string
  /** Paths of the two files. */
  readonly user: string
  readonly project: string
  write(path: string, content: string | Uint8Array): void
  /** Writes both files as given and reads them. */
  read(
    files?: { user?: unknown; project?: unknown },
    context?: Partial<ConfigContext>,
    before?: Partial<ConfigState>,
  ): Promise<ConfigState>
  /** Runs the `connect` hook on a server. */
  connect(server: ServerSpec, env?: Host['env'], signal?: AbortSignal): Promise<ConnectRequest>
}

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export function createPlace(): Place {
  const home = mkdtempSync(join(tmpdir(), 'config-pi-'))
  folders.push(home)
  const agentDir = join(home, '.pi', 'agent')
  const cwd = join(home, 'work', 'project')
  const user = join(agentDir, 'mcp.json')
  const project = join(cwd, '.pi', 'mcp.json')
  for (const path of [user, project]) mkdirSync(dirname(path), { recursive: true })
  const write = (path: string, content: string | Uint8Array): void => writeFileSync(path, content)
  const text = (content: unknown): string | Uint8Array =>
    typeof content === 'string' || content instanceof Uint8Array
      ? content
      : JSON.stringify(content, undefined, 2)
  return {
    home,
    cwd,
    user,
    project,
    write,
    read: async (files = {}, context = {}, before = {}) => {
      if (files.user !== undefined) write(user, text(files.user))
      if (files.project !== undefined) write(project, text(files.project))
      const { kernel, reports, dispose } = await testKernel(configPi())
      const state = await kernel.hooks.config.promise(
        { servers: [], diagnostics: [], questions: [], ...before },
        {
          cwd,
          home,
          agentDir,
          loopsDir: join(agentDir, 'loops'),
          env: {},
          projectTrusted: true,
          trustOf: () => undefined,
          registered: [],
          signal: new AbortController().signal,
          ...context,
        },
      )
      await dispose()
      if (reports.length > 0) throw new Error(`the tap failed: ${reports[0]!.message}`)
      return state!
    },
    connect: async (server, env = {}, signal = new AbortController().signal) => {
      const { kernel, dispose } = await testKernel(configPi(), { host: { env } })
      const request: ConnectRequest = {
        server,
        transport: server.transport,
        env: {},
        headers: {},
        cwd,
        attempt: 1,
        signal,
        streamableHttp: () => Promise.reject(new Error('not here')),
        error: (code, message, details) =>
          new TaplineError(code, message, { server: server.name, ...details }),
      }
      try {
        await kernel.hooks.connect.promise(request)
      } finally {
        await dispose()
      }
      return request
    },
  }
}

/** The messages of a state's diagnostics. */
export function messages(state: ConfigState): string[] {
  return state.diagnostics.map(({ message }) => message)
}
