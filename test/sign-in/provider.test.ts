import { describe, expect, it } from 'vitest'
import { waitUntil } from '../drivers/processes.ts'
import { createSignInStage, freePort } from './stage.ts'

const CALLED = /somebody who signed in/

describe('a real authorization server', () => {
  it('registers the client, signs in, and renews with rotation, once for two processes that ask at the same time', async () => {
    await using stage = await createSignInStage('--slow-renewal', '700')
    stage.entry('hub')
    expect(await stage.login('hub')).toMatchObject({
      code: 0,
      stdout: 'Signed in to server "hub" (1 tool).\n',
    })
    const first = stage.stored()[`mcp__hub|${stage.server.url}`]
    expect(first?.tokens).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) })

    await stage.server.control({ do: 'expire' })
    const calls = await Promise.all([1, 2].map(() => stage.tapline('call', 'hub', 'whoami')))
    for (const call of calls) expect(call).toMatchObject({ code: 0, stdout: expect.stringMatching(CALLED) })
    expect(await stage.grants()).toEqual(['authorization_code', 'refresh_token'])

    const second = stage.stored()[`mcp__hub|${stage.server.url}`]
    expect(second?.tokens?.refresh_token).not.toBe(first?.tokens?.refresh_token)
    await stage.server.control({ do: 'expire' })
    expect((await stage.tapline('call', 'hub', 'whoami')).stdout).toMatch(CALLED)
    expect(await stage.grants()).toEqual(['authorization_code', 'refresh_token', 'refresh_token'])
  })

  it('renews tokens that live for a moment, and without rotation', async () => {
    await using stage = await createSignInStage('--ttl', '2', '--no-rotation')
    stage.entry('hub')
    expect((await stage.login('hub')).code).toBe(0)
    const before = stage.stored()[`mcp__hub|${stage.server.url}`]
    const renewals = async () => (await stage.grants()).filter((grant) => grant === 'refresh_token').length
    // Starting the command alone takes about as long as a token lives.
    const callUntilRenewed = async () => {
      expect((await stage.tapline('call', 'hub', 'whoami')).stdout).toMatch(CALLED)
      return (await renewals()) > 0
    }
    await waitUntil(callUntilRenewed, 30_000, () => 'a renewal')
    const after = stage.stored()[`mcp__hub|${stage.server.url}`]
    expect(after?.tokens?.refresh_token).toBe(before?.tokens?.refresh_token)
    expect(after?.tokens?.access_token).not.toBe(before?.tokens?.access_token)
    expect((await stage.grants()).filter((grant) => grant.includes(' '))).toEqual([])
  })

  it('needs a client of the entry where nobody is registered, and takes its secret from a variable', async () => {
    const port = await freePort()
    await using stage = await createSignInStage(
      '--no-dcr',
      '--client',
      `mine very-secret-value http://127.0.0.1:${port}/callback`,
    )
    stage.entry('hub')
    const refused = await stage.tapline('login', 'hub')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('does not register clients by itself. Register one with whoever runs it')

    stage.entry('hub', {
      oauth: { clientId: 'mine', clientSecret: '!echo very-secret-value', callbackPort: port },
    })
    const signedIn = await stage.login('hub')
    expect(signedIn).toMatchObject({ code: 0 })
    await stage.server.control({ do: 'expire' })
    expect((await stage.tapline('call', 'hub', 'whoami')).stdout).toMatch(CALLED)
    expect(await stage.grants()).toEqual(['authorization_code', 'refresh_token'])
    expect(JSON.stringify([stage.stored(), signedIn])).not.toContain('very-secret-value')
  })

  it('identifies with pi’s document where that is taken', async () => {
    await using stage = await createSignInStage('--cimd', '--no-dcr')
    stage.entry('hub')
    expect((await stage.login('hub')).code).toBe(0)
    const [address] = await stage.opened(1)
    expect(new URL(address ?? '').searchParams.get('client_id')).toBe('https://pi.dev/oauth/client.json')
    expect(stage.stored()[`mcp__hub|${stage.server.url}`]).not.toHaveProperty('clientInformation')
    await stage.server.control({ do: 'expire' })
    expect((await stage.tapline('call', 'hub', 'whoami')).stdout).toMatch(CALLED)
  })

  it('works without metadata of the server, where its own origin or the entry says who signs people in', async () => {
    await using stage = await createSignInStage('--no-resource-metadata')
    const { issuer } = await stage.server.control({ do: 'counts' })
    stage.entry('hub')
    expect((await stage.tapline('login', 'hub')).stderr).toContain(
      'says who signs people in. If the server takes a key',
    )
    const metadata = `${issuer}/.well-known/openid-configuration`
    stage.entry('hub', { oauth: { authServerMetadataUrl: metadata, scope: 'openid' } })
    expect((await stage.login('hub')).code).toBe(0)
    await stage.server.control({ do: 'expire' })
    expect((await stage.tapline('call', 'hub', 'whoami')).stdout).toMatch(CALLED)
  })

  it('says that a sign-in is needed when everything that was granted is taken back', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    await stage.login('hub')
    await stage.server.control({ do: 'revoke' })
    const ran = await stage.tapline('list')
    expect(ran.code).toBe(1)
    expect(ran.stdout).toContain('auth_failed')
    expect(stage.stored()[`mcp__hub|${stage.server.url}`]).not.toHaveProperty('tokens')
    expect((await stage.login('hub')).code).toBe(0)
  })
})
