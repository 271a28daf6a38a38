import { spawn } from 'node:child_process'
import { METHOD, orderedCounter, SERVER, type Subject } from './subject.ts'

/** The floor: a buffer split on newline and JSON.parse, nothing else. */
export async function raw(): Promise<Subject> {
  const counter = orderedCounter()
  const [command, ...args] = SERVER
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number, (result: unknown) => void>()
  let rest: Buffer[] = []
  let id = 0
  const take = (text: string): void => {
    const frame = JSON.parse(text) as {
      id?: number
      method?: string
      params?: { n: number }
      result?: unknown
    }
    if (frame.method === METHOD) counter.take(frame.params?.n)
    else if (frame.id !== undefined) waiting.get(frame.id)?.(frame.result)
  }
  child.stdout.on('data', (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      rest.push(chunk.subarray(start, end))
      take((rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest)).toString('utf8'))
      rest = []
      start = end + 1
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
  })
  const request = (method: string, params: unknown): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set(++id, resolve)
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  })
  return {
    call: (name, params) => request('tools/call', { name, arguments: params }),
    received: counter.count,
    close: async () => {
      child.stdin.end()
      await new Promise((resolve) => child.once('exit', resolve))
    },
  }
}
