import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The parts of a package.json that packing reads or changes. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly files?: readonly string[]
  readonly exports?: Exports
  readonly bin?: string | Readonly<Record<string, string>>
  /** Our own field: files of `src` that are built with all that they import, into one file each. */
  /** By file: modules that are not built into it, and the file that is instead. */
  readonly builtWhole?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly pi?: { readonly extensions?: readonly string[] }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

/** A target of `exports`, with or without conditions. */
export type Exports = string | { readonly [condition: string]: Exports }

/** One package of the repository. */
export interface Workspace {
  /** The package's name without its scope: the name of its staged folder. */
  readonly id: string
  readonly folder: string
  readonly manifest: Manifest
}

/** The repository that this file is part of. */
export const REPOSITORY = resolve(import.meta.dirname, '../..')

/** Every workspace package of `root`, core first. */
export function workspacesOf(root = REPOSITORY): Workspace[] {
  const { workspaces } = readJson(join(root, 'package.json')) as { workspaces: string[] }
  return workspaces
    .flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted())
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => {
      const manifest = readJson(join(folder, 'package.json')) as Manifest
      return { id: manifest.name.replace(/^@[^/]+\//, ''), folder, manifest }
    })
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
