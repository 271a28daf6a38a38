import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  ConnectRequest,
  PluginContext,
  StdioTransportSpec,
  Transport,
  TransportSpec,
} from '@tapline/core'
import { afterAll, expect, test } from 'vitest'
import { stdio } from '../src/index.ts'
import { asked, serverFile } from './support.ts'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stdio-plugin-')))
mkdirSync(join(directory, 'inside'))
afterAll(() => rmSync(directory, { recursive: true }))

/** The plugin in a host of its own: what its tap answers to a request, and what it warns of. */
async function plugged(options: Record<string, unknown> = {}) {
  let tap: (request: ConnectRequest) => Transport | undefined = () => undefined
  const warnings: string[] = []
  const context = {
    hooks: { connect: { tap: (_: unknown, fn: typeof tap) => (tap = fn) } },
    host: { env: { PATH: process.env.PATH, FROM_HOST: 'host', SHARED: 'host' } },
    log: { info: () => undefined, warn: (message: string) => warnings.push(message) },
  }
  const dispose = await stdio().setup(context as unknown as PluginContext, options)
  const connect = (transport: TransportSpec, env: Record<string, string> = {}): Transport | undefined =>
    tap({ ...asked(), transport, env, cwd: directory } as unknown as ConnectRequest)
  return { connect, warnings, dispose: async () => dispose?.() }
}

const entry = (rest: Partial<StdioTransportSpec> = {}): StdioTransportSpec => ({
  type: 'stdio',
  command: process.execPath,
  args: [serverFile('echo.mjs')],
  env: { FROM_ENTRY: 'entry', SHARED: 'entry' },
  inheritEnv: true,
  ...rest,
})

async function ask(transport: Transport, method: string): Promise<unknown> {
  const answer = new Promise((resolve) => (transport.onmessage = (frame) => resolve(frame.result)))
  await transport.send({ jsonrpc: '2.0', id: 1, method })
  return answer
}

test('claims stdio and nothing else', async () => {
  const { connect } = await plugged()
  expect(connect(entry())).toBeDefined()
  expect(connect({ type: 'custom', name: 'websocket', config: {} })).toBeUndefined()
})

test.each([
  [true, { FROM_HOST: 'host', FROM_ENTRY: 'entry', SHARED: 'tap' }],
  [false, { FROM_ENTRY: 'entry', SHARED: 'tap' }],
])('the environment with inheritEnv %s', async (inheritEnv, expected) => {
  const { connect, dispose } = await plugged()
  const transport = connect(entry({ inheritEnv }), { SHARED: 'tap' })!
  await transport.start()
  expect(await ask(transport, 'env')).toEqual({ PATH: process.env.PATH, ...expected })
  await dispose()
})

test.each([
  [undefined, ''],
  ['inside', 'inside'],
  [join(directory, 'inside'), 'inside'],
])('the directory %s is taken from the session’s', async (cwd, expected) => {
  const { connect, dispose } = await plugged()
  const transport = connect(entry(cwd === undefined ? {} : { cwd }))!
  await transport.start()
  expect(await ask(transport, 'cwd')).toBe(join(directory, expected, '.').replace(/\/$/, ''))
  await dispose()
})

test('what still runs when the plugin is disposed of is closed', async () => {
  const { connect, dispose } = await plugged()
  const transport = connect(entry())!
  let closes = 0
  transport.onclose = () => closes++
  await transport.start()
  await dispose()
  expect(closes).toBe(1)
  await dispose()
  expect(closes).toBe(1)
})

test('options that cannot be used are told and left out', async () => {
  const { warnings } = await plugged({ maxFrameBytes: '64 MiB', limit: 5, drainMs: 100 })
  expect(warnings).toEqual([
    'option "maxFrameBytes" must be a whole number, got "64 MiB" (string)',
    'unknown option "limit"; known are maxFrameBytes, endGraceMs, termGraceMs, killGraceMs, drainMs',
  ])
})
