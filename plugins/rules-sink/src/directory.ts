import { statSync } from 'node:fs'

/** Whether a sub-agent can be started there. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}
