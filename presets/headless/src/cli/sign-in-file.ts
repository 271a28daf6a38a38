import { statSync } from 'node:fs'
import { join } from 'node:path'
import { faultOf } from '@tapline/oauth'

/** The file with what people signed in to, which pi shares. */
export interface SignInFile {
  readonly path: string
  /** Octal, for example `600`; absent where the platform has none. */
  readonly mode?: string
  /** What is wrong with it and what to do; absent when nothing is. */
  readonly problem?: string
}

/** Whose `mcp-auth.json` is, and who may read it; undefined when there is none. Nothing of it is read. */
export function signInFile(agentDir: string): SignInFile | undefined {
  const path = join(agentDir, 'mcp-auth.json')
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return undefined
  if (process.platform === 'win32') return { path }
  const mode = (found.mode & 0o777).toString(8).padStart(3, '0')
  const problem = faultOf(path)?.sentence
  return { path, mode, ...(problem === undefined ? {} : { problem }) }
}
