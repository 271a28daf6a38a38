import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file so that a reader sees the old or the new content, also after a crash. A file that is there keeps its
 * permissions, and a symbolic link stays one.
 */
export function writeAtomically(path: string, text: string | Uint8Array): void {
  const target = targetOf(path)
  const temporary = `${target}.${process.pid}.${randomUUID().slice(0, 8)}.tmp`
  const file = openSync(temporary, 'wx', 0o600)
  let open = true
  try {
    const mode = modeOf(target)
    if (mode !== undefined) fchmodSync(file, mode)
    writeFileSync(file, text)
    fsyncSync(file)
    closeSync(file)
    open = false
    renameSync(temporary, target)
  } catch (thrown) {
    if (open) closeSync(file)
    rmSync(temporary, { force: true })
    throw thrown
  }
}

/**
 * Adds a line to the end of a file, private where there was none. A last line that was torn is ended first, so that it
 * takes no other line with it. Call it under the file's lock.
 */
export function appendLine(path: string, line: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a+', 0o600)
  try {
    const { size } = fstatSync(file)
    const last = Buffer.alloc(1)
    const torn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a
    // One write where it fits; the rest of a short one, which a full disk makes, is tried again and then said.
    writeFileSync(file, `${torn ? '\n' : ''}${line}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}
