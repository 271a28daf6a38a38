import { constants } from 'node:buffer'
import type { Frame } from '@tapline/core'

const LF = 0x0a
const NOTHING = Buffer.alloc(0)
/** A grown buffer above this size is given back when its frame is done. */
const KEEP_BYTES = 256 * 1024

/**
 * Turns the bytes of stdout into frames, one a line, handed over synchronously and in order. The cost
 * is linear in the bytes received: each is searched once and decoded once, however it was chunked.
 */
export class FrameReader {
  readonly #limit: number
  readonly #deliver: (frame: Frame) => void
  /** The start of a line whose end has not come: a buffer that doubles, so that drips cost no more than gulps. */
  #held = NOTHING
  #length = 0
  #skipped = 0
  #exceeded = false

  constructor(limit: number, deliver: (frame: Frame) => void) {
    // A longer string cannot be made, and must not be tried.
    this.#limit = Math.min(limit, constants.MAX_STRING_LENGTH)
    this.#deliver = deliver
  }

  /** Lines, and members of batches, that were no JSON-RPC message. */
  get skipped(): number {
    return this.#skipped
  }

  /** Takes the next bytes. False: a line is over the limit, and nothing more is read. */
  push(chunk: Buffer): boolean {
    if (this.#exceeded) return false
    let start = 0
    let end = chunk.indexOf(LF)
    if (this.#length > 0) {
      if (!this.#hold(chunk, 0, end === -1 ? chunk.length : end)) return false
      if (end === -1) return true
      this.end()
      start = end + 1
      end = chunk.indexOf(LF, start)
    }
    while (end !== -1) {
      if (end - start > this.#limit) return this.#exceed()
      this.#line(chunk.toString('utf8', start, end))
      start = end + 1
      end = chunk.indexOf(LF, start)
    }
    return start === chunk.length || this.#hold(chunk, start, chunk.length)
  }

  /** Takes what is held for a whole line: at the end of the stream the last LF may be missing. */
  end(): void {
    if (this.#length === 0) return
    const line = this.#held.toString('utf8', 0, this.#length)
    this.#length = 0
    if (this.#held.length > KEEP_BYTES) this.#held = NOTHING
    this.#line(line)
  }

  #hold(chunk: Buffer, start: number, end: number): boolean {
    const length = this.#length + end - start
    if (length > this.#limit) return this.#exceed()
    if (length > this.#held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, this.#held.length * 2, 4096))
      this.#held.copy(grown, 0, 0, this.#length)
      this.#held = grown
    }
    chunk.copy(this.#held, this.#length, start, end)
    this.#length = length
    return true
  }

  #exceed(): boolean {
    this.#exceeded = true
    this.#held = NOTHING
    this.#length = 0
    return false
  }

  #line(line: string): void {
    const value = parse(line)
    // Batches exist in revision 2025-03-26 alone; each member stands for itself.
    if (!Array.isArray(value)) this.#take(value)
    else if (value.length === 0) this.#skipped++
    else for (const member of value) this.#take(member)
  }

  #take(value: unknown): void {
    if (isFrame(value)) this.#deliver(value)
    else this.#skipped++
  }
}

/** The value, or undefined. Log lines are told by their first character: a thrown SyntaxError costs ten times as much. */
function parse(line: string): unknown {
  const first = line.charCodeAt(0)
  const json = first === 0x7b || first === 0x5b ? line : line.replace(/^\uFEFF/, '').trimStart()
  if (json[0] !== '{' && json[0] !== '[') return undefined
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** What the session may rely on without looking again; the SDK checks the rest of what it is given. */
function isFrame(value: unknown): value is Frame {
  if (typeof value !== 'object' || value === null) return false
  const frame = value as {
    jsonrpc?: unknown
    id?: unknown
    method?: unknown
    params?: unknown
    result?: unknown
    error?: unknown
  }
  const { id, method } = frame
  if (frame.jsonrpc !== '2.0') return false
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') return false
  if (method === undefined)
    return frame.result !== undefined || (typeof frame.error === 'object' && frame.error !== null)
  // Some servers write out absent parameters as null; a push is not to be lost for that.
  if (frame.params === null) delete frame.params
  return typeof method === 'string' && (frame.params === undefined || typeof frame.params === 'object')
}
