import { expect, it } from 'vitest'
import { HOOK_POLICIES, type Plugin, type Transport } from '../../src/index.ts'
import { testKernel } from '../../src/testing/index.ts'
import { connectRequest, serverSpec } from '../specs.ts'

const transport: Transport = {
  start: async () => undefined,
  send: async () => undefined,
  close: async () => undefined,
}

/** Provides credentials, unless the server is the one that it fails for. */
const vault = (fail: () => Promise<undefined>): Plugin => ({
  name: 'vault',
  api: 1,
  setup({ hooks }) {
    hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
      if (request.server.name === 'locked') return fail()
      request.headers.authorization = 'Bearer x'
    })
  },
})

/** Claims every request and remembers with which credentials. */
const network = (claimed: unknown[]): Plugin => ({
  name: 'network',
  api: 1,
  setup: ({ hooks }) =>
    hooks.connect.tap({}, ({ server, headers }) => {
      claimed.push([server.name, headers.authorization])
      return transport
    }),
})

const FAILURES: Readonly<Record<string, () => Promise<undefined>>> = {
  throws: () => {
    throw new Error('the vault is locked')
  },
  rejects: () => Promise.reject(new Error('the vault is locked')),
  hangs: () => new Promise(() => undefined),
}

it.each(Object.keys(FAILURES))(
  'a credential tap that %s fails its server alone, which is never reached without',
  async (how) => {
    const claimed: unknown[] = []
    const { kernel, reports } = await testKernel([network(claimed), vault(FAILURES[how]!)], {
      policies: { connect: { ...HOOK_POLICIES.connect, deadlineMs: 20 } },
    })
    const connect = (name: string) => kernel.hooks.connect.promise(connectRequest(serverSpec({ name })))
    const [locked, open] = await Promise.allSettled([connect('locked'), connect('open')])
    expect(locked).toMatchObject({
      status: 'rejected',
      reason: { place: { plugin: 'vault', hook: 'connect' } },
    })
    expect(open).toEqual({ status: 'fulfilled', value: transport })
    expect(claimed).toEqual([['open', 'Bearer x']])
    // Whoever asked is told by the rejection; it is not reported a second time.
    expect(reports).toEqual([])
  },
)

it('answers nothing when no plugin claims the request', async () => {
  const { kernel } = await testKernel([vault(FAILURES.throws!)])
  expect(await kernel.hooks.connect.promise(connectRequest())).toBeUndefined()
})
