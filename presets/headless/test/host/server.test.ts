import { type Kernel, type ServerSpec, TaplineError } from '@tapline/core'
import type { Catalogue } from '@tapline/tools'
import { expect, it, onTestFinished } from 'vitest'
import { createServer, type Server } from '../../src/host/server.ts'

const SPEC = {
  name: 'docs',
  enabled: true,
  transport: { type: 'stdio', command: 'nowhere', args: [], env: {} },
  source: { scope: 'user' },
  requestTimeoutMs: 1_000,
  reconnect: { maxAttempts: 2, initialMs: 1, maxMs: 1 },
} as unknown as ServerSpec

it('is unreachable from its first failure on, until somebody asks for a connection anew', async () => {
  const seen: string[] = []
  const note = ({ session: { status }, unreachable }: Server): void =>
    void seen.push(`${status.state} ${status.attempt}: ${unreachable ?? '-'}`)
  const transportFor = () => Promise.reject(new TaplineError('CONNECT_FAILED', 'nobody is there'))
  const server = createServer({
    spec: SPEC,
    kernel: { hooks: { connect: { promise: transportFor } } } as unknown as Kernel,
    catalogue: {} as Catalogue,
    eras: { get: () => undefined, set: () => undefined },
    info: { name: 'test', version: '1' },
    cwd: '/',
    onNotification: () => undefined,
    onChange: note,
    onError: () => undefined,
  })
  onTestFinished(() => server.session.close())
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
