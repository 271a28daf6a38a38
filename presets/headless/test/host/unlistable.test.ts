import { type Kernel, type ServerSpec, TaplineError, type Transport } from '@tapline/core'
import { createMemoryPair } from '@tapline/core/testing'
import type { Catalogue } from '@tapline/tools'
import { expect, it, onTestFinished } from 'vitest'
import { createServer } from '../../src/host/server.ts'

const SPEC = {
  name: 'docs',
  enabled: true,
  transport: { type: 'stdio', command: 'nowhere', args: [], env: {} },
  source: { scope: 'user' },
  requestTimeoutMs: 1_000,
  reconnect: { maxAttempts: 2, initialMs: 1, maxMs: 1 },
} as unknown as ServerSpec

/** What a person is told of a server that is connected and whose lists end with these errors, one after the other. */
async function toldOf(...endings: readonly (Error | undefined)[]): Promise<readonly string[]> {
  const told: string[] = []
  const left = [...endings]
  const transportFor = async (): Promise<Transport> => {
    const { client, server: pipe } = createMemoryPair()
    const serverInfo = { name: 'docs', version: '1' }
    pipe.onmessage = ({ id, method }) => {
      if (method !== 'initialize') return
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
      void pipe.send({ jsonrpc: '2.0', id: id as number, result })
    }
    await pipe.start()
    return client
  }
  const refresh = async (): Promise<void> => {
    const ending = left.shift()
    if (ending) throw ending
  }
  const server = createServer({
    spec: SPEC,
    kernel: { hooks: { connect: { promise: transportFor } } } as unknown as Kernel,
    catalogue: { refresh } as unknown as Catalogue,
    eras: { get: () => 'legacy', set: () => undefined },
    info: { name: 'test', version: '1' },
    cwd: '/',
    onNotification: () => undefined,
    onChange: () => undefined,
    onError: (_server, error, over) => void told.push(`${over ? '' : 'retried: '}${error.toString()}`),
  })
  onTestFinished(() => server.session.close())
  server.session.start()
  await server.settled()
  for (let more = 1; more < endings.length; more++) {
    server.toolsChanged()
    await server.settled()
  }
  return told
}

const refusal = new TaplineError('PROTOCOL', 'The server answered with error -1: on holiday')

it('a list of tools that fails is told once, with what to do', async () => {
  expect(await toldOf(refusal, refusal)).toEqual([
    'tools/list failed: The server answered with error -1: on holiday. What else it offers works; /mcp reconnect it to have it list its tools again.',
  ])
})

it('is told again when it has worked in between, and when it is another fault', async () => {
  const slow = new TaplineError('REQUEST_TIMEOUT', 'tools/list was not answered within 1 s.')
  expect(await toldOf(refusal, undefined, refusal, slow)).toHaveLength(3)
})

it.each([
  new TaplineError('CONNECTION_CLOSED', 'server exited with code 1'),
  new Error('The catalogue of tools is closed.'),
])('is not told of when it is not the server’s doing: %s', async (ending) => {
  expect(await toldOf(ending)).toEqual([])
})
