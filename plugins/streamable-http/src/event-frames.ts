import { splitBatch } from './batches.ts'

const LF = 0x0a
const CR = 0x0d
const BLANK_LINE = Buffer.from('\n\n')
const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const MAX_ID_BYTES = 4_096
const MAX_FIELD_BYTES = MAX_ID_BYTES + 16
/** What a header can carry of an id, seen as bytes. */
const ID = /^[\t\x20-\x7E\x80-\xFF]+$/

/**
 * Cuts the bytes of one event stream into whole events, with line ends made LF, and keeps what a
 * reopening needs. The limit holds for each event, not for what happens to be buffered
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 */
export class EventFrames {
  /** The last event id, as the bytes of a header; undefined when there is none to resume from. */
  lastId: string | undefined
  /** The server's last `retry:`, in milliseconds. */
  retryMs: number | undefined
  /** Whether an event has come, not only comments. */
  hasEvents = false
  readonly #limit: number
  readonly #tooLarge: () => Error
  #head: Buffer | undefined = Buffer.alloc(0)
  #afterCr = false
  #atLineStart = true
  #parts: Buffer[] = []
  #size = 0

  /** `before` is what the stream that this one resumes has left behind. */
  constructor(limit: number, tooLarge: () => Error, before?: EventFrames) {
    this.#limit = limit
    this.#tooLarge = tooLarge
    this.lastId = before?.lastId
    this.retryMs = before?.retryMs
  }

  /** The events that `chunk` completes. Throws at the first one that is too large, after those before it. */
  *push(chunk: Uint8Array): Generator<Buffer> {
    let rest = this.#withLineFeeds(
      this.#withoutBom(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
    )
    while (rest.length > 0) {
      const end = this.#endOfFrame(rest)
      const part = end < 0 ? rest : rest.subarray(0, end)
      this.#parts.push(part)
      this.#size += part.length
      if (this.#size > this.#limit) throw this.#overflow()
      this.#atLineStart = end >= 0 || part.at(-1) === LF
      if (end < 0) return
      yield this.#takeFrame()
      rest = rest.subarray(end)
    }
  }

  /** Where the blank line that ends the frame ends, or -1. */
  #endOfFrame(bytes: Buffer): number {
    if (this.#atLineStart && bytes[0] === LF) return 1
    const at = bytes.indexOf(BLANK_LINE)
    return at < 0 ? -1 : at + 2
  }

  #takeFrame(): Buffer {
    const frame = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    this.#readFields(frame)
    return splitBatch(frame) ?? frame
  }

  /** To resume before an event that is too large would bring it again: go on behind it, or without an id. */
  #overflow(): Error {
    this.lastId = undefined
    this.#readFields(this.#parts[0]!.subarray(0, MAX_FIELD_BYTES))
    return this.#tooLarge()
  }

  #readFields(frame: Buffer): void {
    for (let start = 0; start < frame.length;) {
      const end = frame.indexOf(LF, start)
      if (end < 0) return
      const first = frame[start]
      if (first === 0x69 || first === 0x72)
        this.#readField(frame.toString('latin1', start, Math.min(end, start + MAX_FIELD_BYTES)))
      else if (first === 0x64) this.hasEvents = true
      start = end + 1
    }
  }

  #readField(line: string): void {
    const [, name, value = ''] = /^(id|retry)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'id' && !value.includes('\0'))
      this.lastId = value.length <= MAX_ID_BYTES && ID.test(value) ? value : undefined
    if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
  }

  #withoutBom(chunk: Buffer): Buffer {
    if (this.#head === undefined) return chunk
    const head = Buffer.concat([this.#head, chunk])
    if (head.length < BOM.length && BOM.subarray(0, head.length).equals(head)) {
      this.#head = head
      return chunk.subarray(chunk.length)
    }
    this.#head = undefined
    return head.subarray(0, BOM.length).equals(BOM) ? head.subarray(BOM.length) : head
  }

  #withLineFeeds(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk
    const bytes = this.#afterCr && chunk[0] === LF ? chunk.subarray(1) : chunk
    this.#afterCr = chunk.at(-1) === CR
    if (!bytes.includes(CR)) return bytes
    const lines = Buffer.allocUnsafe(bytes.length)
    let length = 0
    for (let index = 0; index < bytes.length; index++) {
      if (bytes[index] !== CR) lines[length++] = bytes[index]!
      else {
        lines[length++] = LF
        if (bytes[index + 1] === LF) index++
      }
    }
    return lines.subarray(0, length)
  }
}
