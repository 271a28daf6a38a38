import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResultSpec } from '@tapline/core'
import type { SaveFile } from './result/limiting.ts'

/** Where {@link saveOutput} may write. */
export interface OutputPlaces {
  /** The home directory: UniPi's results go to `.unipi/tool-results` in it. */
  readonly home: string
  /** The system's directory for temporary files when absent. */
  readonly temporary?: string
}

const LARGEST_ARTIFACT = 16 * 1024 * 1024
const PRIVATE_DIRECTORY = 0o700
const PRIVATE_FILE = 0o600

/* One directory for each process and place. It stays after the process, as pi's files do: transcripts name them. */
const directories = new Map<string, Promise<string>>()

/** Writes what a model is not shown into a private file. The files are new and belong to this user alone. */
export function saveOutput(overflow: ResultSpec['overflow'], places: OutputPlaces): SaveFile {
  return overflow === 'artifact'
    ? artifactIn(join(places.home, '.unipi', 'tool-results'))
    : temporaryIn(places.temporary ?? tmpdir())
}

function temporaryIn(place: string): SaveFile {
  return async (data, extension) => {
    const write = async (): Promise<string> => {
      const directory = directories.get(place) ?? mkdtemp(join(place, 'tapline-'))
      directories.set(place, directory)
      return newFile(join(await directory, `mcp-${randomBytes(8).toString('hex')}${extension}`), data)
    }
    try {
      return await write()
    } catch {
      // Long sessions outlive their temporary directory on some systems: once more, with a new one.
      directories.delete(place)
      return write()
    }
  }
}

function artifactIn(directory: string): SaveFile {
  return async (data, extension) => {
    const size = typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength
    if (size > LARGEST_ARTIFACT) throw new Error('it is larger than 16 MiB, so it was not kept')
    await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY })
    const entry = await lstat(directory)
    if (!entry.isDirectory()) throw new Error(`${directory} is not a directory, so it was not kept`)
    if ((entry.mode & 0o077) !== 0 && process.platform !== 'win32') await chmod(directory, PRIVATE_DIRECTORY)
    return newFile(join(directory, `mcp-${randomUUID()}${extension}`), data)
  }
}

async function newFile(path: string, data: string | Uint8Array): Promise<string> {
  // `wx` never follows a link that someone put there.
  await writeFile(path, data, { mode: PRIVATE_FILE, flag: 'wx' })
  return path
}
