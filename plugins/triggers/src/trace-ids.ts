import { randomUUID } from 'node:crypto'

/** Eight hexadecimal digits, so that none has to be filled up. */
const FIRST = 0x1000_0000
const LAST = 0xffff_ffff

let prefix = ''
let count = LAST

/**
 * A UUID (RFC 9562, version 4 in shape). The first 28 digits are random, once for each three billion
 * events of a process; the last eight count. A wholly random one costs twenty strings an event.
 */
export function nextTraceId(): string {
  if (count === LAST) {
    prefix = randomUUID().slice(0, 28)
    count = FIRST
  }
  count++
  return prefix + count.toString(16)
}
