import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'

/** A configuration file as text, or why there is none. */
export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'problem'; readonly problem: string; readonly line?: number }

const LARGEST = 4 * 1024 * 1024

/** Reads a file whatever stands at its path. Never throws. */
export async function readText(path: string): Promise<FileText> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) return problem('it is a directory')
    // A pipe in its place would be waited on for ever.
    if (!found.isFile()) return problem('it is not a regular file')
    if (found.size > LARGEST) return problem('it is larger than 4 MiB')
    const bytes = await readFile(path)
    if (!isUtf8(bytes))
      return { kind: 'problem', problem: 'it is not valid UTF-8', line: firstBadLine(bytes) }
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
    return text.trim() === ''
      ? problem('the file is empty; expected an object with an "mcpServers" object')
      : { kind: 'text', text }
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
    return problem(`it cannot be read (${REASONS[code ?? ''] ?? code ?? 'unknown reason'})`)
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
