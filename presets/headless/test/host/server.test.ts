import { type Kernel, type ServerSpec, type Session, TaplineError, type Transport } from '@tapline/core'
import { createMemoryPair } from '@tapline/core/testing'
import type { Catalogue } from '@tapline/tools'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createServer, type Server } from '../../src/host/server.ts'

const SPEC = {
  name: 'docs',
  enabled: true,
  transport: { type: 'stdio', command: 'nowhere', args: [], env: {} },
  source: { scope: 'user' },
  requestTimeoutMs: 1_000,
  reconnect: { maxAttempts: 2, initialMs: 1, maxMs: 1 },
} as unknown as ServerSpec

/** A server that can be reached as this says; `catalogue` lists its tools. */
function serverOver(
  transportFor: () => Promise<Transport>,
  onChange: (server: Server) => void,
  catalogue = {} as Pick<Catalogue, 'refresh'>,
): Server {
  const server = createServer({
    spec: SPEC,
    kernel: { hooks: { connect: { promise: transportFor } } } as unknown as Kernel,
    catalogue: catalogue as Catalogue,
    eras: { get: () => 'legacy', set: () => undefined },
    info: { name: 'test', version: '1' },
    cwd: '/',
    onNotification: () => undefined,
    onChange,
    onError: () => undefined,
  })
  onTestFinished(() => server.session.close())
  return server
}

it('is unreachable from its first failure on, until somebody asks for a connection anew', async () => {
  const seen: string[] = []
  const note = ({ session: { status }, unreachable }: Server): void =>
    void seen.push(`${status.state} ${status.attempt}: ${unreachable ?? '-'}`)
  const transportFor = () => Promise.reject(new TaplineError('CONNECT_FAILED', 'nobody is there'))
  const server = serverOver(transportFor, note)
  expect(server.unreachable).toBeUndefined()
  await expect(server.session.ready()).rejects.toThrow('nobody is there')
  await expect(server.session.ready()).rejects.toThrow('nobody is there')
  expect(seen).toEqual([
    'connecting 1: -',
    'reconnecting 1: nobody is there',
    'connecting 2: nobody is there',
    'disconnected 2: reconnect attempts exhausted (2); last error: nobody is there',
  ])
  await expect(server.session.reconnect()).rejects.toThrow('nobody is there')
  expect(seen[4]).toBe('connecting 1: -')
  expect(server.unreachable).toContain('nobody is there')
})

it.each([
  ['closes', (pipe: Transport) => void pipe.close()],
  ['is lost', (_pipe: Transport, client: Transport) => client.onsessionlost?.()],
])('has no failed list where the connection %s meanwhile', async (_how, end) => {
  const seen: (string | undefined)[] = []
  let opened = 0
  const transportFor = async (): Promise<Transport> => {
    opened++
    const { client, server: pipe } = createMemoryPair()
    const answer = (id: unknown, result: object): void =>
      void pipe.send({ jsonrpc: '2.0', id: id as number, result })
    pipe.onmessage = ({ id, method }) => {
      const serverInfo = { name: 'docs', version: '1' }
      if (method === 'initialize')
        answer(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
      if (method !== 'tools/list') return
      if (opened === 1) end(pipe, client)
      else answer(id, { tools: [] })
    }
    await pipe.start()
    return client
  }
  const refresh = async (session: Session): Promise<never> => (await session.listTools()) as never
  const server = serverOver(transportFor, ({ listError }) => void seen.push(listError), { refresh })
  server.session.start()
  await vi.waitUntil(() => opened === 2 && server.listed, 10_000)
  expect(new Set(seen)).toEqual(new Set([undefined]))
})
