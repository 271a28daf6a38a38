import { systemKeychain } from '@tapline/keychain'
import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { startSecretService } from '../../drivers/secret-service.ts'
import { callTool, connected, createStage, noticed, said, toolAnswer } from '../stage.ts'

const REF = 'PI_MCP_TOKEN_WEB'

describe('a token of the keychain in the real pi', () => {
  it('connects the server, and is read anew when the server does not take it any more', async () => {
    await using service = await startSecretService()
    await using http = await startHttpFixture(servers.httpMisbehaving)
    await using stage = await createStage()
    stage.toml({
      web: {
        kind: 'streamable_http',
        endpoint: http.url,
        auth: { kind: 'bearer', token_keychain_ref: REF },
      },
    })
    const { HOME: _home, ...env } = service.env
    const keychain = systemKeychain({ PATH: process.env['PATH'], ...service.env })
    await keychain.store(REF, 'zq-first')
    const pi = await stage.start({ env })
    await connected(pi, 'web')
    await keychain.store(REF, 'zq-second')
    await http.control({ do: 'error', for: 'tools/call', status: 401 })
    expect(toolAnswer(await callTool(stage, pi, 'echo', { text: 'let in' }))).toBe('let in')
    const calls = (await http.log()).filter(({ body }) => body?.method === 'tools/call')
    expect(calls.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer zq-first',
      'Bearer zq-second',
    ])
    const transcript = JSON.stringify([pi.events, stage.model.requests().map(({ raw }) => raw), pi.stderr])
    expect(transcript).not.toMatch(/zq-|PI_MCP_TOKEN_WEB/)
    expect(said(pi)).toEqual([])
  })

  it('that hangs is one sentence about the server that waits for it; pi and the others go on', async () => {
    await using service = await startSecretService()
    await using stage = await createStage()
    const auth = { kind: 'bearer', token_keychain_ref: REF }
    stage.toml({
      web: { kind: 'streamable_http', endpoint: 'http://127.0.0.1:9/mcp', auth },
      here: { command: process.execPath, args: [servers.misbehaving] },
    })
    service.freeze()
    const { HOME: _home, ...env } = service.env
    const pi = await stage.start({ env })
    await connected(pi, 'here')
    expect(toolAnswer(await callTool(stage, pi, 'echo', { text: 'at once' }))).toBe('at once')
    const notice = await noticed(pi, /keychain/)
    expect(notice).toMatch(/server 'web' failed: .*the operating system’s keychain: it did not answer/)
    expect(notice).not.toContain(REF)
    service.thaw()
    await systemKeychain({ PATH: process.env['PATH'], ...service.env }).store(REF, 'zq-third')
    // Now there is a token, and nobody at the address.
    expect((await pi.command('/mcp reconnect web')).join()).not.toMatch(/keychain|zq-/)
  })
})
