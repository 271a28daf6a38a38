import { afterAll, describe, expect, it } from 'vitest'
import { arrive } from '../../drivers/browser.ts'
import { type Pi, startPi, type UiHandler } from '../../drivers/pi.ts'
import { runPi } from '../../drivers/pi-run.ts'
import { startFakeModel, type FakeModel } from '../../drivers/fake-model.ts'
import { createSignInStage, type SignInStage } from '../../sign-in/stage.ts'
import { connected, noticed, serversShow, TAPLINE, toolAnswer } from '../stage.ts'

const model: Promise<FakeModel> = startFakeModel()
afterAll(async () => (await model).close())

async function start(stage: SignInStage): Promise<Pi> {
  return startPi({ scratch: stage.scratch, model: await model, env: stage.env, args: ['-e', TAPLINE] })
}

/** Leaves dialogs open. */
const waits: UiHandler = () => new Promise<undefined>(() => undefined)

async function call(pi: Pi): Promise<string> {
  const fake = await model
  fake.script([{ toolCalls: [{ name: 'mcp__hub__whoami', args: {} }] }])
  await pi.prompt('Who am I?')
  return toolAnswer(fake.requests().at(-1)!)
}

describe('signing in inside pi', () => {
  it('opens the browser, waits in a dialog, connects, and signs out', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub', { exposure: 'direct' })
    await using pi = await start(stage)
    await serversShow(pi, /hub: needs sign-in: The server wants you to sign in\./)
    expect(await noticed(pi, /failed/)).toContain('/mcp login hub, or in a shell with: tapline login hub')

    pi.answer(waits)
    const from = pi.events.length
    const command = pi.send('prompt', { message: '/mcp login' })
    const [address = ''] = await stage.opened(1)
    await arrive(await stage.browser.approve(address))
    expect((await command).success).toBe(true)
    const notices = pi.notices(from)
    expect(notices[0]).toBe(`Sign in to MCP server "hub" in your browser:\n${address}`)
    expect(notices.at(-1)).toBe('Signed in to MCP server "hub" (1 tool).')
    const dialog = pi.events.slice(from).find(({ method }) => method === 'input')
    expect(dialog?.title).toContain('Waiting for you to sign in to "hub"')
    expect(await call(pi)).toContain('somebody who signed in')

    // Tokens expire; nobody notices.
    await stage.server.control({ do: 'expire' })
    expect(await call(pi)).toContain('somebody who signed in')

    expect(await pi.command('/mcp logout hub')).toContain('Signed out of MCP server "hub".')
    await serversShow(pi, /hub: needs sign-in/)
    expect(await pi.command('/mcp logout hub')).toEqual(['No stored credentials for MCP server "hub".'])
    expect(JSON.stringify(pi.events)).not.toMatch(/access_token|refresh_token/)
  })

  it('takes a pasted address, after another one that does not fit', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    await using pi = await start(stage)
    await serversShow(pi, /hub: needs sign-in/)
    const titles: string[] = []
    pi.answer(async ({ title = '' }) => {
      titles.push(title)
      const [address = ''] = await stage.opened(1)
      const callback = await stage.browser.approve(address)
      return titles.length === 1 ? 'http://127.0.0.1/callback?code=x' : callback.href
    })
    expect(await pi.command('/mcp login hub')).toContain('Signed in to MCP server "hub" (1 tool).')
    expect(titles[1]).toMatch(
      /^That is another address\. The right one begins with http:\/\/127\.0\.0\.1:\d+\.\n/,
    )
    await connected(pi, 'hub')
  })

  it('is cancelled by leaving the dialog', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    await using pi = await start(stage)
    await serversShow(pi, /hub: needs sign-in/)
    pi.answer(() => undefined)
    expect((await pi.command('/mcp login hub')).at(-1)).toBe('Sign-in cancelled.')
    const [address = ''] = await stage.opened(1)
    // Nobody listens for the answer any more.
    await expect(arrive(await stage.browser.approve(address))).rejects.toThrow('fetch failed')
  })

  it('connects by itself when another process has signed in, and says when that no longer holds for pushes', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    await using pi = await start(stage)
    await serversShow(pi, /hub: needs sign-in/)
    expect((await stage.login('hub')).code).toBe(0)
    await connected(pi, 'hub')
    // Nobody calls anything: the stream alone finds out, and a renewal is all that it needs.
    const asked = (await stage.server.log()).length
    await stage.server.control({ do: 'expire' })
    await stage.server.control({ do: 'drop' })
    await stage.server.waitForLog(({ body }, index) => index >= asked && body?.method === 'tools/list')
    await connected(pi, 'hub')
    await stage.server.control({ do: 'revoke' })
    await stage.server.control({ do: 'drop' })
    await serversShow(pi, /hub: needs sign-in: The server wants you to sign in\./)
  })

  it('asks for more permissions when the server wants them', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub', { exposure: 'direct' })
    await stage.login('hub')
    await using pi = await start(stage)
    await connected(pi, 'hub')
    await stage.server.control({ do: 'demand', scope: 'write' })
    const refused = await call(pi)
    expect(refused).toContain(
      'more permissions than the last sign-in gave (write): /mcp login hub asks for them.',
    )

    pi.answer(waits)
    const command = pi.send('prompt', { message: '/mcp login hub' })
    const [, address = ''] = await stage.opened(2)
    expect(new URL(address).searchParams.get('scope')?.split(' ')).toEqual(
      expect.arrayContaining(['read', 'write']),
    )
    await arrive(await stage.browser.approve(address))
    await command
    expect(await call(pi)).toContain('somebody who signed in')
  })

  it('says what does not sign in', async () => {
    await using stage = await createSignInStage()
    stage.scratch.write('agent/mcp.json', {
      mcpServers: { keyed: { url: stage.server.url, headers: { authorization: 'Bearer x' } } },
    })
    await using pi = await start(stage)
    await serversShow(pi, /keyed: /)
    expect(await pi.command('/mcp login keyed')).toEqual([
      'MCP server "keyed" does not use OAuth. HTTP servers without a credential of their own do.',
    ])
    expect(await pi.command('/mcp login nobody')).toEqual(['No MCP server is named "nobody".'])
    expect(await pi.command('/mcp login')).toEqual([
      'No enabled MCP server uses OAuth. Only HTTP servers without a credential of their own do.',
    ])
  })

  it('outside a user interface, says what to do in a shell', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    const run = await runPi(['-e', TAPLINE, '-p', '/mcp login hub'], {
      scratch: stage.scratch,
      model: await model,
      env: stage.env,
    })
    expect(run).toMatchObject({ code: 0, stdout: '' })
    expect(run.stderr).toContain('To sign in somebody must be there. In a shell: tapline login hub')
  })
})
