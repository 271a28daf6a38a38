import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Receipt, TaplineError, Trigger } from '@tapline/core'
import { testKernel } from '@tapline/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { webhookSink } from '../../examples/webhook-sink/index.ts'

const SECRET = 'a-shared-secret-of-the-hub'

const push: Trigger = {
  kind: 'trigger',
  traceId: '4c1f4bd2-6d0c-4d5e-9c5a-0f6f0a4f7a11',
  source: 'mcp',
  server: 'hub',
  method: 'notifications/build',
  key: 'mcp:hub:custom:build-7',
  replacement: 'drop',
  summary: 'notifications/build build 7 failed',
  receivedAt: Date.UTC(2026, 10, 30, 9, 5),
}

/** A receiver that does what it likes; answers its address. */
async function receiver(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=in-the-address`
}

/** What becomes of a push for this address, and what the person is told. */
async function delivered(
  url: string,
  signal = AbortSignal.timeout(10_000),
): Promise<{ receipt: Receipt | undefined; said: string }> {
  const { kernel, reports, dispose } = await testKernel(webhookSink, {
    options: { 'webhook-sink': { url, secret_env: 'SECRET' } },
    host: { env: { SECRET } },
  })
  const receipt = await kernel.hooks.deliver.for('webhook').promise(push, { policy: 'webhook', signal })
  await dispose()
  const said = reports.map((error: TaplineError) => error.toString()).join('\n')
  expect(said).not.toMatch(/a-shared-secret|in-the-address|pass-in-the-address/)
  return { receipt, said }
}

describe('a webhook', () => {
  it('that sends on is not followed, and learns nothing more', async () => {
    let followed = 0
    const other = await receiver((_request, response) => {
      followed++
      response.writeHead(204).end()
    })
    for (const status of [301, 302, 303, 307, 308]) {
      let asked = 0
      const url = await receiver((_request, response) => {
        asked++
        response.writeHead(status, { location: other }).end()
      })
      const { receipt, said } = await delivered(url)
      expect(receipt).toBeUndefined()
      expect(said).toMatch(new RegExp(`127\\.0\\.0\\.1:\\d+ refused it with status ${status}`))
      expect(asked).toBe(1)
    }
    expect(followed).toBe(0)
  })

  it('whose answer never ends has taken it, and is listened to no longer', async () => {
    const closed = Promise.withResolvers<void>()
    const url = await receiver((_request, response) => {
      response.on('close', () => closed.resolve())
      response.writeHead(200)
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    expect(await delivered(url)).toEqual({ receipt: { sink: 'webhook' }, said: '' })
    await closed.promise
  })

  it('that keeps silent is tried again, and given up in time for the inbox', async () => {
    let asked = 0
    const url = await receiver(() => void asked++)
    const began = performance.now()
    const { receipt, said } = await delivered(url)
    expect(receipt).toBeUndefined()
    expect(performance.now() - began).toBeLessThan(9_500)
    expect(said).toMatch(/did not take it in 3 attempts; the last time it did not answer in time\./)
    expect(asked).toBe(3)
  })

  it('with a password in its address is not tried at all', async () => {
    let asked = 0
    const url = await receiver((_request, response) => {
      asked++
      response.end()
    })
    const began = performance.now()
    const { receipt, said } = await delivered(url.replace('http://', 'http://me:pass-in-the-address@'))
    expect(receipt).toBeUndefined()
    expect(said).toMatch(/"url" must have no user name and no password/)
    expect(performance.now() - began).toBeLessThan(3_000)
    expect(asked).toBe(0)
  })

  it('that was never taken is no longer tried when the session ends', async () => {
    const url = await receiver((_request, response) => response.writeHead(503).end())
    const began = performance.now()
    const { receipt } = await delivered(url, AbortSignal.timeout(300))
    expect(receipt).toBeUndefined()
    expect(performance.now() - began).toBeLessThan(3_000)
  })
})
