import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Plugin } from '@tapline/core'
import { expect, onTestFinished, test } from 'vitest'
import { createClient, rejectionOf } from './client.ts'

/** Puts itself in front of each request, as a plugin that authorizes does. */
const inFront = (send: (url: URL, init: RequestInit) => Promise<Response>): Plugin => ({
  name: 'in-front',
  api: 1,
  setup: ({ hooks }) =>
    hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
      request.fetch = send
      return undefined
    }),
})

async function listen(): Promise<{ readonly url: string; readonly seen: (string | undefined)[] }> {
  const seen: (string | undefined)[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${String(request.headers['x-number'])}`)
    if (request.url === '/mcp') response.writeHead(307, { location: '/moved' }).end()
    else response.writeHead(401).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen }
}

test('a tap sees every request, each redirect on its own', async () => {
  const { url, seen } = await listen()
  let number = 0
  const send = (address: URL, init: RequestInit) => {
    const headers = new Headers(init.headers)
    headers.set('x-number', String(++number))
    return fetch(address, { ...init, headers })
  }
  await using client = await createClient(url, { plugins: [inFront(send)] })
  await rejectionOf(client.session.ready())
  expect(seen).toEqual(['POST /mcp 1', 'POST /moved 2'])
  expect(client.session.status.state).toBe('auth_failed')
})

test('what a tap throws as an error of its own is told as it is', async () => {
  const { url, seen } = await listen()
  const requests: unknown[] = []
  const refusing: Plugin = {
    name: 'refusing',
    api: 1,
    setup: ({ hooks }) =>
      hooks.connect.tapPromise({ stage: 'auth' }, async (request) => {
        request.fetch = async () => {
          requests.push(1)
          throw request.error('AUTH_FAILED', 'Somebody has to sign in.', {
            advice: 'Sign in.',
            data: { status: 401 },
          })
        }
        return undefined
      }),
  }
  await using client = await createClient(url, { plugins: [refusing] })
  expect(await rejectionOf(client.session.ready())).toMatchObject({ message: 'Somebody has to sign in.' })
  expect(client.session.status).toMatchObject({
    state: 'auth_failed',
    reason: 'Somebody has to sign in.',
    attention: 'Sign in.',
  })
  expect(seen).toEqual([])
})

test('what else a tap throws counts as the network’s failure', async () => {
  const { url } = await listen()
  const send = (): Promise<Response> => Promise.reject(new TypeError('quoted secret'))
  await using client = await createClient(url, { plugins: [inFront(send)], reconnect: { maxAttempts: 1 } })
  const error = await rejectionOf(client.session.ready())
  expect(error).toMatchObject({ name: 'TaplineError' })
  expect(error.message).not.toContain('quoted secret')
})
