import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import type { Projects } from './types/index.ts'

/** What was found counts this long, in milliseconds: a list of thousands names few directories. */
const KEPT_MS = 50
/** No system has a longer path; what another program wrote may have. */
const LONGEST_PATH = 4_096

/** The projects of this machine, as everybody tells them apart. `home` is the home directory. */
export function createProjects(home: string): Projects {
  const known = new Map<string, string>()
  let until = 0
  const real = (directory: string): string => {
    const now = performance.now()
    if (now > until) {
      known.clear()
      until = now + KEPT_MS
    }
    let found = known.get(directory)
    if (found === undefined) known.set(directory, (found = resolved(directory, known)))
    return found
  }
  /** Of real paths. That of the root ends with a separator, so that no other begins with it and one more. */
  const contains = (outer: string, inner: string): boolean =>
    outer === inner || (inner.startsWith(`${outer}${sep}`) && isAbsolute(outer) && outer !== real(home))
  return {
    real,
    holds: (outer, inner) => contains(real(outer), real(inner)),
    same: (a, b) => {
      const [first, second] = [real(a), real(b)]
      return contains(first, second) || contains(second, first)
    },
  }
}

/** What is there of a path without its links, and the rest as it stands. */
function resolved(directory: string, known: Map<string, string>): string {
  if (!isAbsolute(directory) || directory.length > LONGEST_PATH) return directory
  let there = resolve(directory)
  const gone: string[] = []
  for (;;) {
    const parent = dirname(there)
    const real = known.get(there) ?? realOf(there) ?? (parent === there ? there : undefined)
    if (real !== undefined) {
      known.set(there, real)
      return gone.length === 0 ? real : join(real, ...gone.toReversed())
    }
    gone.push(basename(there))
    there = parent
  }
}

function realOf(path: string): string | undefined {
  try {
    // Looked at first: an error for each that is gone would take longer than all the rest of a list.
    return statSync(path, { throwIfNoEntry: false }) && realpathSync(path)
  } catch {
    // It may not be looked at, or no system has such a path.
    return undefined
  }
}
