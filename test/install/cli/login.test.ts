import { chmodSync, existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { arrive } from '../../drivers/browser.ts'
import { createSignInStage, freePort } from '../../sign-in/stage.ts'
import { startTapline, stdioEntry, TAPLINE } from '../tapline.ts'
import { servers } from '../../drivers/fixtures.ts'
import { isolatedEnv } from '../../drivers/pi-process.ts'
import { startTerminal } from '../../drivers/terminal.ts'

const SIGN_IN = /^Sign in to server "hub" in your browser:\nhttp:\/\/127\.0\.0\.1:\d+\/auth\?\S+\n/

describe('tapline login and logout', () => {
  it('opens the browser, signs in, and says so; standard output is for the outcome alone', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    const list = await stage.tapline('list')
    expect(list.code).toBe(1)
    expect(list.stdout).toMatch(/hub {2}auth_failed/)
    const before = await stage.tapline('doctor')
    expect(before.stdout).toMatch(
      /^ {2}hub: needs sign-in, 0 tools, .*\n.*\n {4}What to do: Sign in with \/mcp login hub/m,
    )

    const ran = await stage.login('hub')
    expect(ran).toMatchObject({ code: 0, stdout: 'Signed in to server "hub" (1 tool).\n' })
    expect(ran.stderr).toMatch(SIGN_IN)
    const again = await stage.tapline('login', 'hub', '--json')
    expect(again.json()).toEqual({ server: 'hub', signedIn: 'already', tools: 1 })

    expect((await stage.tapline('list')).code).toBe(0)
    const doctor = await stage.tapline('doctor')
    expect(doctor).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('  hub: connected, signed in, 1 tool, '),
    })
    const out = await stage.tapline('logout', 'hub')
    expect(out).toMatchObject({ code: 0, stderr: '' })
    expect(out.stdout).toMatch(/^Signed out of server "hub"/)
    expect((await stage.tapline('logout', 'hub', '--json')).json()).toEqual({ server: 'hub', removed: false })
    // No token, code or secret in anything that was printed.
    const printed = JSON.stringify([list, ran, again, out])
    expect(printed).not.toMatch(/access_token|refresh_token|code_verifier/)
  })

  it('shows the address where no browser can be opened', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    const env = { PATH: path.dirname(process.execPath) }
    const running = startTapline(['login', 'hub', '--json'], { scratch: stage.scratch, env })
    await expect.poll(() => running.stderr, { timeout: 20_000 }).toContain('open that address yourself')
    const address = /http\S+\/auth\?\S+/.exec(running.stderr)?.[0] ?? ''
    expect((await arrive(await stage.browser.approve(address))).status).toBe(200)
    expect((await running.exited).code).toBe(0)
    expect(JSON.parse(running.stdout)).toEqual({ server: 'hub', signedIn: 'by browser', tools: 1 })
  })

  it('takes a pasted address at a terminal, and ends at Ctrl-C', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    const { scratch, env } = stage
    const open = () =>
      startTerminal({
        command: [
          '/bin/sh',
          '-c',
          '"$@"; echo "left with $?"',
          'sh',
          process.execPath,
          TAPLINE,
          'login',
          'hub',
        ],
        env: isolatedEnv(scratch, env),
        cwd: scratch.project,
        columns: 200,
        rows: 30,
      })
    await using interrupted = await open()
    await interrupted.waitForScreen(/paste the address that it was sent to:/, 20_000)
    await interrupted.key('C-c')
    await interrupted.waitForScreen(/left with 130/, 20_000)

    await using terminal = await open()
    const [, address = ''] = await stage.opened(2)
    const callback = await stage.browser.approve(address)
    await terminal.waitForScreen(/paste the address that it was sent to:/, 20_000)
    await terminal.submit('http://127.0.0.1:1/callback?code=x')
    await terminal.waitForScreen(/That is another address\. The right one begins with/, 20_000)
    await terminal.type(callback.href)
    await terminal.key('Enter')
    const done = await terminal.waitForScreen(/left with \d+/, 20_000)
    expect(done).toMatch(/Signed in to server "hub" \(1 tool\)\.\s+left with 0/)
  })

  it('says that the person declined, and stores no token', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    const running = startTapline(['login', 'hub'], { scratch: stage.scratch, env: stage.env })
    const [address = ''] = await stage.opened(1)
    await arrive(await stage.browser.decline(address))
    expect((await running.exited).code).toBe(1)
    expect(running.stderr).toContain('did not sign you in (access_denied: End-User aborted interaction).')
    expect(JSON.stringify(stage.stored())).not.toContain('access_token')
  })

  it('ends when the time is over, and when it is interrupted', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    const late = await stage.tapline('login', 'hub', '--for', '1', '--json')
    expect(late.code).toBe(1)
    expect(late.json()).toEqual({
      server: 'hub',
      error: 'The sign-in was not completed within 1 s. Begin again when you are at the browser.',
    })
    const running = startTapline(['login', 'hub'], { scratch: stage.scratch, env: stage.env })
    await stage.opened(2)
    running.child.kill('SIGINT')
    expect((await running.exited).code).toBe(130)
    expect(running.stdout).toBe('')
  })

  it('refuses what has nothing to sign in to, and says what would help', async () => {
    await using stage = await createSignInStage()
    stage.scratch.write('agent/mcp.json', {
      mcpServers: {
        local: stdioEntry(servers.misbehaving),
        keyed: { url: stage.server.url, headers: { Authorization: 'Bearer x' } },
        gone: { url: `http://127.0.0.1:${await freePort()}/mcp` },
      },
    })
    for (const name of ['local', 'keyed']) {
      const ran = await stage.tapline('login', name)
      expect(ran).toMatchObject({ code: 2, stdout: '' })
      expect(ran.stderr).toContain(`Server "${name}" does not sign in with OAuth.`)
      expect((await stage.tapline('logout', name)).code).toBe(2)
    }
    expect((await stage.tapline('login', 'nobody')).stderr).toContain('No server is named "nobody"')
    expect((await stage.tapline('login')).stderr).toContain('Usage: tapline login <server>')
    const gone = await stage.tapline('login', 'gone')
    expect(gone.code).toBe(1)
    expect(gone.stderr).toContain('nothing listens there')
    expect(existsSync(path.join(stage.scratch.agent, 'mcp-auth.json'))).toBe(false)
  })

  it('says that a file of tokens is not safe to use, and signs in once it is', async () => {
    await using stage = await createSignInStage()
    stage.entry('hub')
    const file = stage.scratch.write('agent/mcp-auth.json', '{}')
    chmodSync(file, 0o666)
    const ran = await stage.tapline('login', 'hub')
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain(
      `can be written by other users and is not used. Look at what is in it, then: chmod 600`,
    )
    chmodSync(file, 0o600)
    expect((await stage.login('hub')).code).toBe(0)
  })
})
