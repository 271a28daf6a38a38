import { statSync } from 'node:fs'

/** What is wrong with who may read or write a file: `refused` is not used at all, `loose` is used and said. */
export interface Fault {
  readonly severity: 'refused' | 'loose'
  readonly sentence: string
}

/** Looks at whose a file is and who may change it. Where there are no such owners, and no file, nothing is wrong. */
export function faultOf(path: string, uid = process.getuid?.()): Fault | undefined {
  const stats = uid === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  // Whoever is root may read and write it anyway.
  if (stats.uid !== uid && stats.uid !== 0) {
    return {
      severity: 'refused',
      sentence: `${path} belongs to another user and is not used. Remove it, or give it back to yourself with chown.`,
    }
  }
  if (stats.mode & 0o022) {
    return {
      severity: 'refused',
      sentence: `${path} can be written by other users and is not used. Look at what is in it, then: chmod 600 ${path}`,
    }
  }
  if (stats.mode & 0o044) {
    return {
      severity: 'loose',
      sentence: `${path} holds tokens and can be read by other users: chmod 600 ${path}`,
    }
  }
  return undefined
}
