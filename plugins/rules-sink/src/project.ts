import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'

/** A directory with its links resolved. Of one that is not there, what is there above it. */
export function realOf(directory: string): string {
  const path = resolve(directory)
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realOf(parent), basename(path))
  }
}

/** Whether a sub-agent can be started there. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}

/** Whether two directories are one project: the same, or one in the other; `/` and the home directory hold only themselves. */
export function sameProject(a: string, b: string): boolean {
  const [first, second] = [realOf(a), realOf(b)]
  const home = realOf(homedir())
  return holds(first, second, home) || holds(second, first, home)
}

function holds(outer: string, inner: string, home: string): boolean {
  if (outer === inner) return true
  if (dirname(outer) === outer || outer === home) return false
  const path = relative(outer, inner)
  return !path.startsWith('..') && !isAbsolute(path)
}
