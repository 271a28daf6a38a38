import { realpathSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'

/** Whether `inner` is `outer` or below it, after resolving links. The root and the home directory hold nothing but themselves. */
export function holds(outer: string, inner: string, home: string): boolean {
  const [a, b] = [realOf(outer), realOf(inner)]
  if (a === b) return true
  if (a === '/' || a === realOf(home)) return false
  const path = relative(a, b)
  return !isAbsolute(path) && path.split(sep)[0] !== '..'
}

/** Whether two directories are one project: the same, or one in the other. */
export function sameProject(a: string, b: string, home: string): boolean {
  return holds(a, b, home) || holds(b, a, home)
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
