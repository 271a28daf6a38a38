/** A text whose middle was cut out. */
export interface Cut {
  readonly text: string
  readonly totalBytes: number
  readonly totalLines: number
}

/**
 * Keeps the start and the end of a text, half of `maxBytes` each, around a `…N chars truncated…` marker,
 * as pi and Codex do. Cuts between characters. Undefined when the text fits.
 */
export function cutMiddle(text: string, maxBytes: number): Cut | undefined {
  // A UTF-16 unit takes at most three bytes: most texts need no encoding to be found short enough.
  if (text.length * 3 <= maxBytes) return undefined
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= maxBytes) return undefined
  const headEnd = boundary(bytes, Math.floor(maxBytes / 2), -1)
  const tailStart = boundary(bytes, bytes.length - (maxBytes - Math.floor(maxBytes / 2)), 1)
  let removed = 0
  for (let index = headEnd; index < tailStart; index += 1) if (startsCharacter(bytes, index)) removed += 1
  // A newline at the end ends the last line instead of starting another.
  const totalLines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  const [head, tail] = [bytes.toString('utf8', 0, headEnd), bytes.toString('utf8', tailStart)]
  return { text: `${head}…${removed} chars truncated…${tail}`, totalBytes: bytes.length, totalLines }
}

/** The start of a text in at most `maxBytes`, whole characters only. */
export function cutEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8')
  return bytes.length <= maxBytes ? text : bytes.toString('utf8', 0, boundary(bytes, maxBytes, -1))
}

function boundary(bytes: Buffer, from: number, step: 1 | -1): number {
  let index = from
  while (index > 0 && index < bytes.length && !startsCharacter(bytes, index)) index += step
  return index
}

/** Bytes of the form 10xxxxxx continue a character. */
function startsCharacter(bytes: Buffer, index: number): boolean {
  return ((bytes[index] as number) & 0xc0) !== 0x80
}
