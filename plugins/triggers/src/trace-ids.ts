import { randomUUID } from 'node:crypto'

let prefix = ''
let count = 0

/**
 * A UUID (RFC 9562, version 4 in shape). The first 28 digits are random, once for each four billion
 * events of a process; the last eight count. A wholly random one costs twenty strings an event.
 */
export function nextTraceId(): string {
  if (count === 0) prefix = randomUUID().slice(0, 28)
  const digits = count.toString(16)
  count = (count + 1) >>> 0
  return prefix + ZEROS.slice(digits.length) + digits
}

const ZEROS = '00000000'
