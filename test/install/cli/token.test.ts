import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { isolatedEnv } from '../../drivers/pi-process.ts'
import { createScratch, type Scratch } from '../../drivers/scratch.ts'
import { type SecretService, startSecretService } from '../../drivers/secret-service.ts'
import { startTerminal } from '../../drivers/terminal.ts'
import { type Ran, runTapline, stdioEntry } from '../tapline.ts'

const TOKEN = 'zq-token-f00dcafe-0815'
const REF = 'PI_MCP_TOKEN_HUB'
const KEYCHAIN = 'the operating system’s keychain'

/** What lets a process find the service; its home stays that of the scratch directory. */
function busOf({ env }: SecretService): Record<string, string> {
  const { HOME: _, ...rest } = env
  return rest
}

function hubAt(url: string, ref = REF): string {
  const auth = `auth = { kind = "bearer", token_keychain_ref = "${ref}" }`
  return `[[server]]\nname = "hub"\nkind = "streamable_http"\nendpoint = "${url}"\n${auth}\n`
}

const authOf = (scratch: Scratch): Record<string, unknown> =>
  JSON.parse(readFileSync(path.join(scratch.agent, 'auth.json'), 'utf8')) as Record<string, unknown>

/** What a run printed, which must never show these. */
function printed({ stdout, stderr }: Ran, ...secrets: readonly string[]): string {
  for (const secret of [TOKEN, REF, ...secrets]) expect(stdout + stderr).not.toContain(secret)
  return stdout + stderr
}

describe('with a keychain', () => {
  let service: SecretService
  beforeAll(async () => {
    service = await startSecretService()
  })
  afterAll(() => service.stop())

  it('stores a token there, which connects the server, and removes it', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    await using remote = await startHttpFixture(servers.httpMisbehaving, ['--token', TOKEN])
    scratch.write('agent/loops/mcp.toml', hubAt(remote.url))
    const run = (args: string[], input?: string) =>
      runTapline(args, { scratch, env: busOf(service), ...(input === undefined ? {} : { input }) })

    const before = await run(['list'])
    expect(before.code).toBe(1)
    expect(printed(before)).toContain(`asked: ${KEYCHAIN}, pi’s credential store, the environment`)
    const doctor = printed(await run(['doctor']))
    expect(doctor).toContain('    What to do: Store it in a shell with: tapline login hub --token\n')
    expect(doctor).toContain(`\nCredentials: ${KEYCHAIN}: it answers\n`)

    const stored = await run(['login', 'hub', '--token'], `${TOKEN}\n`)
    expect(stored).toMatchObject({ code: 0, stderr: '' })
    expect(printed(stored)).toContain(`Stored the token of server "hub" in ${KEYCHAIN}.`)
    expect(printed(await run(['list']))).toMatch(/^hub {2}connected/m)
    // A token of the keychain comes before all others.
    scratch.write('agent/auth.json', { [REF]: { type: 'api_key', key: 'zq-wrong' } })
    const called = await run(['call', 'hub', 'echo', '{"text":"in"}', '--json'])
    expect(called.json()).toMatchObject({ content: [{ text: 'in' }] })

    const removed = await run(['logout', 'hub', '--token', '--json'])
    expect(removed.json()).toEqual({
      server: 'hub',
      removed: [KEYCHAIN, 'pi’s credential store'],
      inEnvironment: false,
    })
    expect(authOf(scratch)).toEqual({})
    expect(printed(await run(['logout', 'hub', '--token']))).toBe('No token of server "hub" was stored.\n')
    expect((await run(['list'])).code).toBe(1)
  })

  it('replaces a token without showing it, and says so as JSON', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/loops/mcp.toml', hubAt('http://127.0.0.1:1/mcp'))
    for (const input of ['zq-first', `  ${TOKEN}\r\n`]) {
      const ran = await runTapline(['login', 'hub', '--token', '--json'], {
        scratch,
        env: busOf(service),
        input,
      })
      printed(ran, 'zq-first')
      expect(ran.json()).toEqual({ server: 'hub', stored: KEYCHAIN })
    }
    const env = { ...busOf(service), [REF]: 'zq-env' }
    const removed = await runTapline(['logout', 'hub', '--token'], { scratch, env })
    expect(printed(removed, 'zq-env')).toMatch(/^Removed the token[^]*The environment still has one/)
  })

  it('asks for it at a terminal without showing it', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/loops/mcp.toml', hubAt('http://127.0.0.1:1/mcp'))
    const script = fileURLToPath(new URL('../../../presets/headless/bin/tapline.mjs', import.meta.url))
    const open = () =>
      startTerminal({
        command: [process.execPath, script, 'login', 'hub', '--token'],
        env: isolatedEnv(scratch, busOf(service)),
        cwd: scratch.project,
      })
    {
      await using terminal = await open()
      await terminal.waitForScreen(/Token for server "hub" \(it is not shown\):/)
      await terminal.type('zq-never')
      await terminal.key('C-c')
      expect(await terminal.waitForExit()).toBe(130)
    }
    await using terminal = await open()
    await terminal.waitForScreen(/it is not shown/)
    await terminal.type('wrong')
    await terminal.key('C-u')
    await terminal.type(`${TOKEN}x`)
    await terminal.key('BSpace')
    await terminal.key('Enter')
    expect(await terminal.waitForExit()).toBe(0)
    const screen = await terminal.screen('all')
    expect(screen).toContain(`Stored the token of server "hub" in ${KEYCHAIN}.`)
    expect(screen).not.toMatch(/zq-|wrong/)

    await using remote = await startHttpFixture(servers.httpMisbehaving, ['--token', TOKEN])
    scratch.write('agent/loops/mcp.toml', hubAt(remote.url))
    expect((await runTapline(['list'], { scratch, env: busOf(service) })).code).toBe(0)
  })

  it('stores nothing elsewhere while it hangs', async () => {
    await using frozen = await startSecretService()
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/loops/mcp.toml', hubAt('http://127.0.0.1:1/mcp'))
    frozen.freeze()
    const ran = await runTapline(['login', 'hub', '--token'], { scratch, env: busOf(frozen), input: TOKEN })
    frozen.thaw()
    expect(ran.code).toBe(2)
    expect(printed(ran)).toMatch(/^Nothing was stored\. The operating system’s keychain: it did not answer/)
    expect(() => authOf(scratch)).toThrow(/ENOENT/)
  })
})

describe('without a keychain', () => {
  it('stores a token in pi’s credential store, beside what is there, and says why', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    // pi would take these for a command and a variable.
    const odd = '!echo $HOME $$ zq-odd'
    await using remote = await startHttpFixture(servers.httpMisbehaving, ['--token', odd])
    scratch.write('agent/loops/mcp.toml', hubAt(remote.url))
    const anthropic = { type: 'api_key', key: 'sk-zq' }
    scratch.write('agent/auth.json', { anthropic })
    const stored = await runTapline(['login', 'hub', '--token'], { scratch, input: odd })
    expect(stored.code).toBe(0)
    expect(printed(stored, 'zq-odd', 'sk-zq')).toMatch(
      /^Stored the token of server "hub" in pi’s credential store, as plain text in \S+auth\.json\.\nThe operating system’s keychain was not used: there is none that answers here\.\n/,
    )
    expect(Object.keys(authOf(scratch))).toEqual(['anthropic', REF])
    expect((await runTapline(['list'], { scratch })).code).toBe(0)
    const removed = await runTapline(['logout', 'hub', '--token'], { scratch })
    expect(printed(removed)).toMatch(/^Removed the token of server "hub" from pi’s credential store\.\n/)
    expect(printed(removed)).toContain('keychain was not looked into: there is none that answers here.')
    expect(authOf(scratch)).toEqual({ anthropic })
  })

  it('makes that store private, and leaves one alone that it cannot read', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/loops/mcp.toml', hubAt('http://127.0.0.1:1/mcp'))
    const run = () => runTapline(['login', 'hub', '--token', '--json'], { scratch, input: TOKEN })
    const file = path.join(scratch.agent, 'auth.json')
    expect((await run()).json()).toMatchObject({
      stored: 'pi’s credential store',
      path: file,
      instead: 'there is none that answers here',
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    scratch.write('agent/auth.json', '{ "zq-secret": ')
    const refused = await run()
    expect(refused.code).toBe(2)
    expect(printed(refused, 'zq-secret')).toContain('auth.json is not valid JSON: it was left alone')
    expect(readFileSync(file, 'utf8')).toBe('{ "zq-secret": ')
  })
})

describe('what is refused, before anything is stored', () => {
  const file = hubAt('http://127.0.0.1:1/mcp')
  it.each([
    ['no token', file, ['hub', '--token'], '\n', 'Standard input holds no token'],
    ['two lines', file, ['hub', '--token'], 'zq-a\nzq-b', 'The token cannot be sent: it holds a line break'],
    ['a foreign character', file, ['hub', '--token'], 'zq-☃', 'The token cannot be sent'],
    ['a book', file, ['hub', '--token'], 'zq-a'.repeat(20_000), 'far more than a token'],
    ['a token on the command line', file, ['hub', '--token', 'zq-argument'], '', 'Usage: tapline login'],
    ['a token on the command line', file, ['hub', '--token=zq-argument'], '', 'does not take an argument'],
    ['an unknown server', file, ['hob', '--token'], 'zq', 'No server is named "hob"'],
    [
      'the credential of a model provider',
      hubAt('http://127.0.0.1:1/mcp', 'anthropic'),
      ['hub', '--token'],
      'zq-a',
      'The credential of server "hub" is refused: it is that of a model provider.',
    ],
  ])('%s', async (_what, toml, args, input, sentence) => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/loops/mcp.toml', toml)
    scratch.write('agent/auth.json', '{}')
    const ran = await runTapline(['login', ...args], { scratch, input })
    expect(ran.code).toBe(2)
    expect(printed(ran, 'zq')).toContain(sentence)
    expect(authOf(scratch)).toEqual({})
  })

  it('a server that names no credential', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: { local: stdioEntry(servers.misbehaving) } })
    for (const command of ['login', 'logout']) {
      const ran = await runTapline([command, 'local', '--token'], { scratch, input: TOKEN })
      expect(ran.code).toBe(2)
      expect(printed({ ...ran, stderr: ran.stderr.replace('PI_MCP_TOKEN_…', '') })).toContain(
        'Server "local" names no credential',
      )
    }
  })
})
