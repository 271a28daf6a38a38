import { isUtf8 } from 'node:buffer'
import { statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConfigContext } from '@tapline/core'

/** A configuration file as text, exactly as it is, or why there is none. */
export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'problem'; readonly problem: string; readonly line?: number }

const LARGEST = 1024 * 1024

/** Where the two files of a session are. */
export function filesOf({ loopsDir, cwd }: ConfigContext): {
  readonly user: string
  readonly project: string
} {
  return { user: join(loopsDir, 'mcp.toml'), project: join(cwd, '.pi', 'mcp.toml') }
}

/** Whether nothing stands at a path: what cannot be read is there. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** Reads a file whatever stands at its path. Never throws. */
export async function readText(path: string): Promise<FileText> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) return problem('it is a directory')
    // A pipe in its place would be waited on for ever.
    if (!found.isFile()) return problem('it is not a regular file')
    if (found.size > LARGEST) return problem('it is larger than 1 MiB')
    const bytes = await readFile(path)
    if (isUtf8(bytes)) return { kind: 'text', text: bytes.toString('utf8') }
    const line = firstBadLine(bytes)
    return { kind: 'problem', problem: `line ${line} is not valid UTF-8`, line }
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
    return problem(REASONS[code ?? ''] ?? code ?? 'unknown reason')
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links lead in a circle',
}

function problem(text: string): FileText {
  return { kind: 'problem', problem: text }
}

/** Line breaks are never part of a longer character, so each line can be judged alone. */
function firstBadLine(bytes: Buffer): number {
  let line = 1
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start)
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
  return line
}
