import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ConfigContext, ConfigState } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { afterEach } from 'vitest'
import { configLoops } from '../src/index.ts'

/** What is written before reading. */
export interface Files {
  readonly user?: string | Uint8Array
  readonly project?: string | Uint8Array
}

/** A home, a loops directory and a project in a temporary directory, and the plugin in a real kernel. */
export interface Place {
  readonly home: string
  readonly cwd: string
  /** Paths of the two files. */
  readonly user: string
  readonly project: string
  /** Writes both files as given and reads them. A project's file is trusted unless `context` says otherwise. */
  read(files?: Files, context?: Partial<ConfigContext>, before?: Partial<ConfigState>): Promise<ConfigState>
}

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export function createPlace(): Place {
  const home = mkdtempSync(join(tmpdir(), 'config-loops-'))
  folders.push(home)
  const agentDir = join(home, '.pi', 'agent')
  const loopsDir = join(agentDir, 'loops')
  const cwd = join(home, 'work', 'project')
  const user = join(loopsDir, 'mcp.toml')
  const project = join(cwd, '.pi', 'mcp.toml')
  for (const path of [user, project]) mkdirSync(dirname(path), { recursive: true })
  return {
    home,
    cwd,
    user,
    project,
    read: async (files = {}, context = {}, before = {}) => {
      if (files.user !== undefined) writeFileSync(user, files.user)
      if (files.project !== undefined) writeFileSync(project, files.project)
      const { kernel, reports, dispose } = await testKernel(configLoops())
      const state = await kernel.hooks.config.promise(
        { servers: [], diagnostics: [], questions: [], ...before },
        {
          cwd,
          home,
          agentDir,
          loopsDir,
          env: {},
          projectTrusted: true,
          trustOf: () => true,
          registered: [],
          signal: new AbortController().signal,
          ...context,
        },
      )
      await dispose()
      if (reports.length > 0) throw new Error(`the tap failed: ${reports[0]!.message}`)
      return state!
    },
  }
}

/** The messages of a state's diagnostics. */
export function messages(state: ConfigState): string[] {
  return state.diagnostics.map(({ message }) => message)
}
