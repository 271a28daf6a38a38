import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  descendants,
  type ProcessEntry,
  processesNaming,
  waitUntil,
} from '../../../test/drivers/processes.ts'
import { type SecretService, startSecretService } from '../../../test/drivers/secret-service.ts'
import { systemKeychain } from '../src/index.ts'

const node = { PATH: process.env['PATH'] }
const REF = 'PI_MCP_TOKEN_A'

/** The processes that ask the keychain for this one. */
const askers = () => descendants(process.pid).filter(isAsker)
const isAsker = ({ cmdline }: ProcessEntry) => cmdline.includes('keyring.ts')

describe('a real Secret Service', () => {
  let service: SecretService
  beforeAll(async () => {
    service = await startSecretService()
  })
  afterAll(() => service.stop())

  test('keeps what is stored, under its reference alone, until it is removed', async () => {
    const keychain = systemKeychain({ ...node, ...service.env })
    expect(await keychain.read(REF)).toBeUndefined()
    await keychain.store(REF, 'first')
    await keychain.store(REF, 'sécond ☃ "quoted"')
    expect(await keychain.read(REF)).toBe('sécond ☃ "quoted"')
    expect(await keychain.read('PI_MCP_TOKEN_')).toBeUndefined()
    expect(await keychain.read('pi_mcp_token_a')).toBeUndefined()
    expect(await keychain.remove(REF)).toBe(true)
    expect(await keychain.remove(REF)).toBe(false)
    expect(await keychain.read(REF)).toBeUndefined()
  })

  test('is asked in a process of its own that shows neither reference nor secret, and is gone afterwards', async () => {
    const keychain = systemKeychain({ ...node, ...service.env })
    const storing = keychain.store('PI_MCP_TOKEN_HUB', 's3cret')
    const asker = await waitUntil(() => askers()[0])
    expect(asker.cmdline).not.toMatch(/HUB|s3cret/)
    await storing
    expect(askers()).toEqual([])
  })

  test('answers many questions at once, one after the other', async () => {
    const keychain = systemKeychain({ ...node, ...service.env })
    await keychain.store(REF, 'x')
    const answers = await Promise.all([REF, 'PI_MCP_TOKEN_B', REF].map((ref) => keychain.read(ref)))
    expect(answers).toEqual(['x', undefined, 'x'])
  })

  test('that hangs is given up, holds nobody up meanwhile, and is asked again later', async () => {
    const keychain = systemKeychain({ ...node, ...service.env }, { readMs: 1_500 })
    await keychain.store(REF, 'x')
    service.freeze()
    try {
      let longest = 0
      let last = performance.now()
      const beat = setInterval(() => {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }, 5)
      const pids = new Set<number>()
      const look = setInterval(() => askers().forEach(({ pid }) => pids.add(pid)), 100)
      const outcomes = await Promise.allSettled([keychain.read(REF), keychain.read('PI_MCP_TOKEN_B')])
      clearInterval(beat)
      clearInterval(look)
      const silent = { failure: 'silent', message: 'it did not answer within 2 s' }
      const rejected = { status: 'rejected', reason: expect.objectContaining(silent) }
      expect(outcomes).toEqual([rejected, rejected])
      // Whoever waited behind the first was told the same, without asking.
      expect(pids.size).toBe(1)
      // The binding alone would have blocked this thread for two seconds.
      expect(longest).toBeLessThan(1_000)
      expect(askers()).toEqual([])
    } finally {
      service.thaw()
    }
    expect(await keychain.read(REF)).toBe('x')
  })
})

test('what is stored outlives the service; while it is locked, the keychain says so', async () => {
  const first = await startSecretService()
  await systemKeychain({ ...node, ...first.env }).store(REF, 'x')
  await first.stop()
  const home = first.env['HOME'] ?? ''
  {
    await using locked = await startSecretService({ home, state: 'locked' })
    const keychain = systemKeychain({ ...node, ...locked.env })
    await expect(keychain.read(REF)).rejects.toThrow('it is locked, or does not let Tapline in')
    await expect(keychain.store(REF, 'y')).rejects.toThrow('it is locked, or does not let Tapline in')
    await expect(keychain.remove(REF)).rejects.toThrow('it is locked, or does not let Tapline in')
  }
  await using second = await startSecretService({ home })
  expect(await systemKeychain({ ...node, ...second.env }).read(REF)).toBe('x')
})

test.each([
  ['no bus is there', {}],
  ['the bus is gone', { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus' }],
  ['there is no environment at all', { PATH: undefined }],
])('where %s, there is no keychain, and nothing is kept elsewhere', async (_what, env) => {
  const keychain = systemKeychain({ ...node, ...env })
  await expect(keychain.read(REF)).rejects.toThrow('there is none that answers here')
  await expect(keychain.store(REF, 'x')).rejects.toThrow('there is none that answers here')
  await expect(keychain.remove(REF)).rejects.toThrow('there is none that answers here')
})

test('the process that asks ends with the one that asked, however that ends', async () => {
  await using service = await startSecretService()
  service.freeze()
  const script = fileURLToPath(new URL('children/ask.ts', import.meta.url))
  const parent = spawn(process.execPath, [script, REF], { env: { ...node, ...service.env }, stdio: 'ignore' })
  await waitUntil(() => descendants(parent.pid ?? -1).length > 0)
  const asking = () => processesNaming(service.env['HOME'] ?? '').filter(isAsker)
  expect(asking()).toHaveLength(1)
  parent.kill('SIGKILL')
  await waitUntil(() => asking().length === 0, 10_000, 'the process that asks to end')
})
