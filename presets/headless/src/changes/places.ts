import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { withLock, writeAtomically } from '@tapline/core'
import type { HostPaths, ServerSpec } from '@tapline/core'
import type { TrustStore } from '../state/trust.ts'
import type { ServerChange } from './change.ts'
import { changedJson } from './mcp-json.ts'
import { changedToml } from './mcp-toml.ts'

/** Where a change counts: where the server's settings come from now, or in this project alone. */
export type ChangeScope = 'here' | 'project'

/** What saving a change needs to know. */
export interface ChangePlace {
  readonly paths: HostPaths
  readonly projectTrusted: boolean
  readonly trust: TrustStore
}

/**
 * Saves a change of a server in the file that it belongs in: the project's override where there is one, else the file
 * that defines the server; for `project` the override, which is added where there is none. Answers the file; undefined
 * for a server that no file has. Throws what a person should know when the file stays as it was.
 */
export async function saveChange(
  spec: ServerSpec,
  change: ServerChange,
  scope: ChangeScope,
  place: ChangePlace,
): Promise<string | undefined> {
  const { name, dialect, source } = spec
  if (source.scope === 'session') {
    if (scope === 'here') return undefined
    throw new Error(
      `Server "${name}" comes from ${source.label}, not from a file: its changes last for this session, in no project alone.`,
    )
  }
  if (dialect === 'mcp.json' && source.path !== undefined) {
    const path = jsonFileFor(spec, source.path, scope, place)
    const added = path !== source.path
    await rewrite(path, (text) => changedJson(path, text, name, change, added))
    return path
  }
  if (dialect === 'mcp.toml' && source.path !== undefined) {
    const { path } = source
    if (scope === 'project' && source.scope === 'user') {
      throw new Error(
        `mcp.toml has no overrides: to change server "${name}" in this project alone, write its whole entry into .pi/mcp.toml, or move it to mcp.json.`,
      )
    }
    const { trust, paths } = place
    await rewrite(
      path,
      (text) => changedToml(path, text, name, change),
      (before, after) => trust.carry(path, paths.cwd, before, after),
    )
    return path
  }
  throw new Error(`Server "${name}" comes from ${source.label}; change it there.`)
}

function jsonFileFor(
  { name, source }: ServerSpec,
  own: string,
  scope: ChangeScope,
  { paths, projectTrusted }: ChangePlace,
): string {
  if (source.override !== undefined) return source.override
  const project = join(paths.cwd, '.pi', 'mcp.json')
  if (scope === 'here' || resolve(project) === resolve(own)) return own
  if (!projectTrusted)
    throw new Error(
      `${project} would not be read: pi does not trust this project. Server "${name}" stays as it is.`,
    )
  return project
}

async function rewrite(
  path: string,
  work: (text: string) => string,
  written?: (before: string, after: string) => Promise<void>,
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true })
  await withLock(path, async () => {
    const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const after = work(before)
    if (after === before) return
    // A yes first: whoever reads the file in between must not ask about it.
    await written?.(before, after)
    try {
      writeAtomically(path, after)
    } catch (thrown) {
      await written?.(after, before)
      throw thrown
    }
  })
}
