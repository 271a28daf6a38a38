import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'

/**
 * Whether a directory belongs to the project at `cwd`: it is the same after resolving links, or one is in the other;
 * `/` and the home directory hold nothing but themselves. No directory belongs to every project.
 */
export function projectOf(cwd: string, home: string): (directory: string) => boolean {
  const [own, homeDirectory] = [realOf(cwd), realOf(home)]
  // Many entries, few directories: each is looked at once.
  const known = new Map<string, boolean>([['', true]])
  return (directory) => {
    let belongs = known.get(directory)
    if (belongs === undefined) {
      const real = realOf(directory)
      belongs = holds(own, real, homeDirectory) || holds(real, own, homeDirectory)
      known.set(directory, belongs)
    }
    return belongs
  }
}

/** The directory without links, or as it is called when it is not there. */
export function realOf(directory: string): string {
  try {
    // An error for each directory that is gone would take longer than all the rest of a list.
    return statSync(directory, { throwIfNoEntry: false }) ? realpathSync(directory) : directory
  } catch {
    return directory
  }
}

function holds(outer: string, inner: string, home: string): boolean {
  if (outer === inner) return true
  if (outer === '/' || outer === home || !isAbsolute(inner) || !isAbsolute(outer)) return false
  const path = relative(outer, inner)
  return path !== '' && path !== '..' && !path.startsWith('../') && !isAbsolute(path)
}
