import type { Plugin } from '@tapline/core'
import { describe, expect, it } from 'vitest'
import { connect, createClient, rejectionOf } from './client.ts'
import { LegacyServer } from './legacy-server.ts'

/** A credential plugin as there may be any. */
const credential = (headers: Readonly<Record<string, string>>): Plugin => ({
  name: 'credential',
  api: 1,
  setup({ hooks }) {
    hooks.connect.tap({ stage: 'auth' }, (request) => {
      Object.assign(request.headers, headers)
      return undefined
    })
  },
})

describe.concurrent('headers', () => {
  it('come from the plugin, the entry and the credential, later ones first, on every request', async () => {
    await using server = await LegacyServer.start()
    const headers = { 'X-Team': 'blue', 'X-Both': 'entry' }
    const plugins = [credential({ 'x-both': 'credential', authorization: 'Bearer token' })]
    const client = await connect(server.url, { transport: { headers }, plugins })
    await server.asked('GET')
    await client.session.close()
    expect(new Set(server.http.requests.items.map(({ method }) => method))).toEqual(
      new Set(['POST', 'GET', 'DELETE']),
    )
    for (const { headers: sent } of server.http.requests.items) {
      expect(sent).toMatchObject({
        'x-team': 'blue',
        'x-both': 'credential',
        authorization: 'Bearer token',
        'user-agent': 'tapline/9.9.9',
      })
      expect(Object.keys(sent).filter((name) => name.startsWith('x-tapline'))).toEqual([])
    }
  })

  it('of the entry win over the defaults, and may not name what the connection owns', async () => {
    await using server = await LegacyServer.start()
    const headers = {
      'User-Agent': 'mine/1',
      'Content-Type': 'text/plain',
      'Mcp-Session-Id': 'mine',
      'Last-Event-ID': 'mine',
      'Content-Length': '3',
      Connection: 'close',
    }
    await using client = await connect(server.url, { transport: { headers } })
    expect((await server.called('initialize')).headers).toMatchObject({
      'user-agent': 'mine/1',
      'content-type': 'application/json',
    })
    expect((await server.called('initialize')).headers['mcp-session-id']).toBeUndefined()
    const get = await server.asked('GET')
    expect(get.headers['last-event-id']).toBeUndefined()
    expect(get.headers['mcp-session-id']).toBe('session-1')
    expect(client.session.status.state).toBe('connected')
  })

  it.for([
    ['X-Token', 'a\r\nInjected: secret'],
    ['X-Token', 'a\nsecret'],
    ['X-Token', 'secret \u2013 with a dash'],
    ['X Token', 'secret'],
  ] as const)(
    'that HTTP does not allow are an error that names %s and not the value',
    async ([name, value]) => {
      await using server = await LegacyServer.start()
      await using client = await createClient(server.url, { transport: { headers: { [name]: value } } })
      const error = await rejectionOf(client.session.ready())
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(name) })
      expect(error.message).not.toContain('secret')
      expect(server.http.requests.items).toEqual([])
    },
  )

  it('lose the line end that a file gave them', async () => {
    await using server = await LegacyServer.start()
    await using client = await connect(server.url, {
      plugins: [credential({ authorization: 'Bearer token\n' })],
    })
    expect((await server.called('initialize')).headers.authorization).toBe('Bearer token')
    expect(client.session.status.state).toBe('connected')
  })

  it.for(['not an address', 'ftp://127.0.0.1/', 'data:application/json,{}', 'http://user:secret@127.0.0.1/'])(
    'and the address are checked before anything is sent: %s',
    async (url) => {
      await using client = await createClient(url)
      const error = await rejectionOf(client.session.ready())
      expect(error).toMatchObject({ code: 'CONFIG_INVALID' })
      expect(error.message).not.toContain('secret')
    },
  )
})
