import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'

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
  const problem = problemOf(path, found.uid, found.mode)
  return { path, mode, ...(problem === undefined ? {} : { problem }) }
}

function problemOf(path: string, uid: number, mode: number): string | undefined {
  if (uid !== userInfo().uid)
    return `${path} belongs to another user (${uid}): its sign-ins are not yours. Move it away and sign in again.`
  return (mode & 0o077) === 0
    ? undefined
    : `${path} holds credentials and others may get at it (mode ${(mode & 0o777).toString(8)}): chmod 600 it.`
}
