import { type FileHandle, open, stat } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

/** How much of the end of a file is read at first, in bytes. */
const LAST_BYTES = 256 * 1024
const CHUNK_BYTES = 64 * 1024
/** A line without an end is no line of a log. */
const LONGEST_REST = 256 * 1024

/** Told of lines, oldest first. */
export type Hear = (lines: readonly string[]) => void

/** A file that is followed. It is kept open: so no other file can have its number meanwhile, and all of it can be read. */
interface Followed {
  readonly handle: FileHandle
  readonly number: bigint
  /** Up to where it has been read. */
  end: number
  readonly decoder: StringDecoder
  /** The beginning of a line. */
  rest: string
}

/**
 * Follows a file that others append to and at times rename, to begin a new one. Reads nothing by itself: {@link look}
 * does, without holding anything up.
 */
export class Tail {
  readonly #path: string
  readonly #hear: Hear
  #file: Followed | undefined
  #hasLooked = false
  #looking: Promise<void> | undefined
  #closed = false

  constructor(path: string, hear: Hear) {
    this.#path = path
    this.#hear = hear
  }

  /** Hands on what was added since the last look. Never rejects: a file that is not there has no lines. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch(() => undefined)
      .finally(() => (this.#looking = undefined))
    return this.#looking
  }

  /** Nothing is read any more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#looking
    await this.#leave()
  }

  async #look(): Promise<void> {
    if (this.#closed) return
    const isFirst = !this.#hasLooked
    this.#hasLooked = true
    const { ino, size } = (await stat(this.#path, { bigint: true }).catch(() => undefined)) ?? {}
    if (this.#file && (ino === undefined || this.#file.number === ino)) {
      // It was cut: what it has now is new.
      if (size !== undefined && this.#file.end > size) this.#file = begun(this.#file)
      return this.#take(this.#file, false)
    }
    if (this.#file) {
      await this.#take(this.#file, false)
      await this.#leave()
    }
    if (ino !== undefined) await this.#begin(isFirst)
  }

  async #begin(isFirst: boolean): Promise<void> {
    const handle = await open(this.#path, 'r')
    const { ino, size } = await handle.stat({ bigint: true })
    const from = isFirst ? Math.max(0, Number(size) - LAST_BYTES) : 0
    this.#file = begun({ handle, number: ino }, from)
    await this.#take(this.#file, from > 0)
  }

  async #leave(): Promise<void> {
    const { handle } = this.#file ?? {}
    this.#file = undefined
    await handle?.close()
  }

  async #take(file: Followed, isCut: boolean): Promise<void> {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    let skipping = isCut
    for (;;) {
      const { bytesRead } = await file.handle.read(chunk, 0, CHUNK_BYTES, file.end)
      if (bytesRead === 0) return
      file.end += bytesRead
      const lines = (file.rest + file.decoder.write(chunk.subarray(0, bytesRead))).split('\n')
      file.rest = (lines.pop() ?? '').slice(-LONGEST_REST)
      // It begins somewhere in a line.
      if (skipping && lines.length > 0) {
        lines.shift()
        skipping = false
      }
      if (lines.length > 0) this.#hear(lines)
    }
  }
}

/** Nothing of it has been read from there on. */
function begun({ handle, number }: Pick<Followed, 'handle' | 'number'>, end = 0): Followed {
  return { handle, number, end, decoder: new StringDecoder('utf8'), rest: '' }
}
