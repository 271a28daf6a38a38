import type { Files } from '../types/index.ts'
import { jsonFile } from './json-file.ts'
import { withLock } from './lock.ts'
import { appendLine, writeAtomically } from './writing.ts'

/** The files of this machine, as plugins are given them. */
export const files: Files = {
  json: jsonFile,
  locked: withLock,
  write: writeAtomically,
  append: appendLine,
}

export { jsonFile, withLock, writeAtomically }
