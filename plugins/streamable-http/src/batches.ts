const BATCH = /^data: ?\s*\[/m

/**
 * The events of a JSON-RPC batch, one message each, or undefined when `frame` holds no batch. Revision
 * 2025-03-26 allows batches in an event stream (basic/transports); the SDK does not read them.
 */
export function splitBatch(frame: Buffer): Buffer | undefined {
  // The first data line decides, and it stands near the start.
  if (!BATCH.test(frame.toString('latin1', 0, 1_024))) return undefined
  const data = frame.toString('utf8').split('\n').flatMap(dataOf).join('\n')
  try {
    const messages: unknown = JSON.parse(data)
    if (!Array.isArray(messages)) return undefined
    return Buffer.from(messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(''))
  } catch {
    return undefined
  }
}

function dataOf(line: string): string[] {
  const [, data] = /^data(?:: ?(.*))?$/s.exec(line) ?? []
  return data === undefined ? [] : [data]
}
