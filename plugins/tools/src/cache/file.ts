import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const LARGEST_FILE = 16 * 1024 * 1024

/** What is at a path: its text, unless it is missing, too large, unreadable or not UTF-8. */
export interface FileRead {
  readonly missing: boolean
  readonly text?: string
  /** To recognise this very file again. */
  readonly inode?: bigint
}

/** Reads a file in one go. Never throws. */
export function readWhole(file: string): FileRead {
  let descriptor: number | undefined
  let inode: bigint | undefined
  try {
    descriptor = openSync(file, 'r')
    const { ino, size } = fstatSync(descriptor, { bigint: true })
    inode = ino
    if (size > LARGEST_FILE) return { missing: false, inode }
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(descriptor))
    return { missing: false, text, inode }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return { missing: true }
    return { missing: false, ...(inode === undefined ? {} : { inode }) }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Moves a damaged file to `<file>.corrupt-<time>` and answers that path; undefined when it cannot be moved. */
export function setAside(file: string, inode: bigint | undefined, time: number): string | undefined {
  let target = `${file}.corrupt-${time}`
  for (let count = 1; existsSync(target); count += 1) target = `${file}.corrupt-${time}-${count}`
  try {
    // Another process may have put a good file there meanwhile: that one stays.
    if (inode === undefined || statSync(file, { bigint: true }).ino === inode) renameSync(file, target)
    return target
  } catch {
    return undefined
  }
}

/** Puts `text` in the place of a file: readers see the old one or the new one, after a crash too. */
export async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}
