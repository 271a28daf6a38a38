import { describe, expect, it } from 'vitest'
import { createSignInStage } from './stage.ts'

const CALLED = /somebody who signed in/

describe('pi’s own commands and Tapline', () => {
  it('share what pi signed in to', async () => {
    await using stage = await createSignInStage()
    stage.entry('my-hub')
    const signedIn = await stage.pi(['login', 'my-hub'], true)
    expect(signedIn).toMatchObject({
      code: 0,
      output: expect.stringContaining('Signed in to MCP server "my-hub"'),
    })
    expect((await stage.tapline('call', 'my-hub', 'whoami')).stdout).toMatch(CALLED)

    // Tapline renews what pi stored, and pi goes on with that.
    await stage.server.control({ do: 'expire' })
    expect((await stage.tapline('call', 'my-hub', 'whoami')).stdout).toMatch(CALLED)
    expect(await stage.pi(['list'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('connected, 1 tool'),
    })
    await stage.server.control({ do: 'expire' })
    expect(await stage.pi(['list'])).toMatchObject({ code: 0 })
    expect((await stage.tapline('call', 'my-hub', 'whoami')).stdout).toMatch(CALLED)
    expect(await stage.grants()).toEqual(['authorization_code', 'refresh_token', 'refresh_token'])

    expect((await stage.pi(['logout', 'my-hub'])).code).toBe(0)
    expect((await stage.tapline('list')).stdout).toContain('auth_failed')
  })

  it.each([
    ['a registered client', []],
    ['pi’s document', ['--cimd', '--no-dcr']],
  ])('share what Tapline signed in to, with %s', async (_what, flags) => {
    await using stage = await createSignInStage(...flags)
    stage.entry('my-hub')
    expect((await stage.login('my-hub')).code).toBe(0)
    expect(await stage.pi(['list'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('connected, 1 tool'),
    })
    await stage.server.control({ do: 'expire' })
    expect(await stage.pi(['list'])).toMatchObject({
      code: 0,
      output: expect.stringContaining('connected, 1 tool'),
    })
    expect((await stage.tapline('call', 'my-hub', 'whoami')).stdout).toMatch(CALLED)
    expect(await stage.grants()).toEqual(['authorization_code', 'refresh_token'])

    expect((await stage.tapline('logout', 'my-hub')).code).toBe(0)
    expect((await stage.pi(['list'])).output).toContain('needs sign-in')
    expect(stage.stored()).toEqual({})
  })

  it('renew once when both ask at the same time', async () => {
    await using stage = await createSignInStage('--slow-renewal', '700')
    stage.entry('my-hub')
    await stage.login('my-hub')
    await stage.server.control({ do: 'expire' })
    const [ours, theirs] = await Promise.all([stage.tapline('list'), stage.pi(['list'])])
    expect(ours.stdout).toContain('connected')
    expect(theirs.output).toContain('connected, 1 tool')
    expect(await stage.grants()).toEqual(['authorization_code', 'refresh_token'])
  })
})
