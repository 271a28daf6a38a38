import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Workspace } from './workspaces.ts'

/** What decides about the tarball of each package, as one hash: its files, the tooling, the packages it is typed against. */
export function fingerprints(workspaces: readonly Workspace[], root: string): Map<string, string> {
  const byName = new Map(workspaces.map((workspace) => [workspace.manifest.name, workspace]))
  const marks = new Map<string, string>()
  const tooling = hashOf(root, [
    'tsdown.config.ts',
    'tsconfig.json',
    'package-lock.json',
    'LICENSE',
    'test/packed/*.ts',
  ])
  const mark = (name: string, path: readonly string[]): string => {
    const known = marks.get(name)
    const workspace = byName.get(name)
    if (known || !workspace || path.includes(name)) return known ?? ''
    const { dependencies, peerDependencies } = workspace.manifest
    const neighbours = Object.keys({ ...dependencies, ...peerDependencies }).toSorted()
    const parts = [
      tooling,
      hashOf(workspace.folder, ['**']),
      ...neighbours.map((next) => mark(next, [...path, name])),
    ]
    const made = createHash('sha256').update(parts.join('\n')).digest('hex')
    marks.set(name, made)
    return made
  }
  for (const name of byName.keys()) mark(name, [])
  return marks
}

function hashOf(folder: string, patterns: readonly string[]): string {
  const hash = createHash('sha256')
  const exclude = (path: string) => /(^|[\\/])(node_modules|test|dist)$/.test(path)
  for (const path of patterns.flatMap((pattern) => globSync(pattern, { cwd: folder, exclude })).toSorted()) {
    if (statSync(join(folder, path)).isFile())
      hash
        .update(path)
        .update('\0')
        .update(readFileSync(join(folder, path)))
  }
  return hash.digest('hex')
}
