import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { importsOf } from './imports.ts'
import type { Import } from './imports.ts'

/** The repository that this file is part of. */
export const REPOSITORY = resolve(import.meta.dirname, '../..')

/** The code files below `root` that match one of `patterns`, relative to it, with `/`. */
export function codeIn(root: string, ...patterns: readonly string[]): string[] {
  return filesIn(root, ...patterns).filter((path) => /\.(ts|mts|mjs|js)$/.test(path))
}

/** The files below `root` that match one of `patterns`, relative to it, with `/`. */
export function filesIn(root: string, ...patterns: readonly string[]): string[] {
  const exclude = (path: string) => /(^|[\\/])(node_modules|dist)$/.test(path)
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, exclude }))
    .map((path) => path.split(sep).join('/'))
    .toSorted()
}

/** Every import in those files, with the file it stands in. */
export function importsIn(root: string, files: readonly string[]): (Import & { readonly file: string })[] {
  return files.flatMap((file) => importsOf(join(root, file)).map((found) => ({ ...found, file })))
}

/** How many lines a file has; the line end at its end begins no further one. */
export function linesOf(root: string, file: string): number {
  return textOf(root, file).trimEnd().split('\n').length
}

/** The text of a file, empty when it is absent. */
export function textOf(root: string, file: string): string {
  return existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
}
