import type { Frame, Transport } from '../types/index.ts'

/** One end of an in-memory connection. */
export interface MemoryTransport extends Transport {
  /** Whether this end or the other has closed. */
  readonly closed: boolean
}

/** Two transports that hand each other their frames, in order, each in a microtask of its own. */
export function createMemoryPair(): { readonly client: MemoryTransport; readonly server: MemoryTransport } {
  const client = new Endpoint()
  const server = new Endpoint()
  client.peer = server
  server.peer = client
  return { client, server }
}

class Endpoint implements MemoryTransport {
  peer: Endpoint | undefined
  closed = false
  onmessage?: ((frame: Frame, extra?: unknown) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  #started = false
  #early: Frame[] = []

  async start(): Promise<void> {
    this.#started = true
    for (const frame of this.#early.splice(0)) this.onmessage?.(frame)
  }

  async send(frame: Frame): Promise<void> {
    if (this.closed) throw new Error('The in-memory connection is closed.')
    const copy = structuredClone(frame)
    await Promise.resolve()
    this.peer?.receive(copy)
  }

  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    this.onclose?.()
    await this.peer?.close()
  }

  receive(frame: Frame): void {
    if (this.closed) return
    if (this.#started) this.onmessage?.(frame)
    else this.#early.push(frame)
  }
}
