import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { createScratch } from '../../drivers/scratch.ts'
import type { Scratch } from '../../drivers/scratch.ts'
import { runTapline, stdioEntry } from '../tapline.ts'

const secret = (where: string): string => `zq-${where}-f00dcafe-0815`

/** Entries and stores full of secrets, most of which fail where an error is likely to quote them. */
function plant(scratch: Scratch, remote: string): void {
  const bearer = (ref: string): object => ({
    url: remote,
    headers: { Authorization: `Bearer ${secret('header')}` },
    ref,
  })
  scratch.write('agent/auth.json', {
    PI_MCP_TOKEN_STORED: { type: 'api_key', key: secret('stored') },
    PI_MCP_TOKEN_BROKEN: {
      type: 'api_key',
      key: `!echo ${secret('command')}; echo ${secret('command')} >&2; exit 1`,
    },
    PI_MCP_TOKEN_LINES: { type: 'api_key', key: `${secret('lines')}\nmore` },
    acme: { type: 'oauth', access: secret('provided'), refresh: secret('refresh'), expires: 4e12 },
    PI_MCP_TOKEN_OLD: { type: 'oauth', access: secret('old'), refresh: secret('refresh'), expires: 1 },
  })
  scratch.write('agent/mcp.json', {
    mcpServers: {
      works: { ...stdioEntry(servers.misbehaving), env: { KEY: secret('env') } },
      leaky: {
        command: process.execPath,
        args: ['-e', 'console.error("no such key: " + process.env.API_KEY); process.exit(1)'],
        env: { API_KEY: secret('echoed') },
      },
      gone: { command: 'no-such-command-of-any-machine', env: { KEY: secret('env') } },
      refused: bearer('x'),
      provided: { url: remote, auth: { provider: 'acme' } },
      folded: { url: remote, headers: { 'x-key': `${secret('folded')}\r\nx-more: 1` } },
      misnamed: { url: remote, headers: { 'x key': secret('misnamed') } },
      unset: { url: remote, headers: { 'x-key': `${secret('unset')}\${TAPLINE_NOT_SET}` } },
      failing: { url: remote, headers: { 'x-key': `!echo ${secret('shell')} | tee /dev/stderr; exit 1` } },
      addressed: { url: `${remote}-missing?key=\${ADDRESS_KEY}` },
      signed: { url: 'http://127.0.0.1:1/mcp', oauth: { clientId: 'c', clientSecret: secret('oauth') } },
      wrong: { command: 'node', env: { KEY: [secret('wrong')] }, headers: secret('wrong') },
    },
  })
  const entries = ['STORED', 'BROKEN', 'LINES', 'OLD', 'ENV', secret('reference')].map((name) => {
    const ref = name.startsWith('zq') ? name : `PI_MCP_TOKEN_${name}`
    const auth = `auth = { kind = "bearer", token_keychain_ref = "${ref}" }`
    return `[[server]]\nname = "t${name.slice(0, 6)}"\nkind = "streamable_http"\nendpoint = "${remote}"\n${auth}\n`
  })
  const plain = `[[server]]\nname = "plain"\nkind = "streamable_http"\nendpoint = "${remote}"\nauth = { kind = "bearer", token = "${secret('plain')}" }\n`
  scratch.write('agent/loops/mcp.toml', [...entries, plain].join('\n'))
}

describe('the command', () => {
  it('never prints a secret, whatever it prints and however it fails', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    await using remote = await startHttpFixture(servers.httpMisbehaving, ['--token', secret('accepted')])
    plant(scratch, remote.url)
    const env = { PI_MCP_TOKEN_ENV: secret('environment'), ADDRESS_KEY: secret('address') }
    const runs: string[][] = [
      ['list'],
      ['list', '--json'],
      ['doctor'],
      ['doctor', '--json'],
      ['watch', '--for', '1.5'],
      ...['works', 'refused', 'failing', 'tBROKEN'].map((name) => ['call', name, 'echo']),
    ]
    const printed = new Map<string, string>()
    for (let at = 0; at < runs.length; at += 2) {
      await Promise.all(
        runs.slice(at, at + 2).map(async (args) => {
          const { code, stdout, stderr } = await runTapline(args, { scratch, env })
          const wanted = args[1] === 'works' || args[0] === 'watch' ? 0 : args[0] === 'call' ? 2 : 1
          expect({ args, code }).toEqual({ args, code: wanted })
          printed.set(args.join(' '), stdout + stderr)
        }),
      )
    }
    for (const [args, text] of printed)
      expect({ args, found: text.match(/.*f00dcafe.*/g) }).toEqual({ args, found: null })
    // It did come to where the secrets are: the server has seen those that were meant for it.
    const seen = (await remote.log())
      .map(({ headers, url }) => `${url} ${headers['authorization']}`)
      .join('\n')
    for (const where of ['header', 'stored', 'environment', 'address', 'provided'])
      expect(seen).toContain(secret(where))
    for (const where of ['command', 'lines', 'old', 'refresh', 'reference', 'plain']) {
      expect(seen).not.toContain(secret(where))
    }
    expect(printed.get('list')).toContain('no such key: …')
    expect(printed.get('list')).toMatch(/failing {2}disconnected/)
  })
})
