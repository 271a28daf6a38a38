import { chmodSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { servers, startHttpFixture } from '../../drivers/fixtures.ts'
import { createScratch } from '../../drivers/scratch.ts'
import { runTapline, stdioEntry } from '../tapline.ts'

describe('tapline doctor', () => {
  it('says what is configured, from where, and that all is well', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const path = scratch.write('agent/mcp.json', { mcpServers: { good: stdioEntry(servers.notify) } })
    const settings = scratch.write('agent/tapline.yaml', 'apply: now\n')
    scratch.write('agent/settings.json', '{ "extensions": ["-builtin:mcp"] }')
    const json = await runTapline(['doctor', '--json'], { scratch })
    expect(json).toMatchObject({ code: 0, stderr: '' })
    expect(json.json()).toEqual({
      files: [
        { path, present: true },
        { path: `${scratch.agent}/loops/mcp.toml`, present: false },
        { path: settings, present: true },
        { path: `${scratch.project}/.pi/mcp.json`, present: false },
        { path: `${scratch.project}/.pi/mcp.toml`, present: false },
      ],
      plugins: expect.arrayContaining(['config-pi', 'stdio', 'streamable-http', 'tools']),
      servers: [expect.objectContaining({ name: 'good', source: path, state: 'connected' })],
      problems: [],
      log: { path: `${scratch.agent}/mcp.log`, present: false },
      builtInSilenced: true,
    })
    const text = await runTapline(['doctor'], { scratch })
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toContain(`  ✓ ${path}\n  · ${scratch.agent}/loops/mcp.toml\n  ✓ ${settings}\n`)
    expect(text.stdout).toContain(`  good: connected, 1 tool, from ${path}\nProblems\n  none\n`)
    expect(text.stdout).toContain('"tapline doctor --undo" takes that back.')
  })

  it('says of what is wrong once what to do about it', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', {
      mcpServers: { dead: { command: 'no-such-command-of-any-machine' }, typo: { comand: 'node' } },
    })
    scratch.write('agent/tapline.json', { plugins: ['./missing.mjs'], namign: 'mcp' })
    scratch.write('agent/settings.json', '{ "theme": ')
    const json = await runTapline(['doctor', '--json'], { scratch })
    expect([json.code, json.stderr]).toEqual([1, ''])
    expect(json.json()).toMatchObject({
      servers: [
        {
          name: 'dead',
          state: 'disconnected',
          error: expect.stringContaining('command not found'),
          attention: expect.stringContaining('Install it'),
        },
      ],
      problems: [
        expect.stringContaining('unknown key "namign" is ignored. Did you mean "naming"?'),
        expect.stringContaining('plugin "./missing.mjs"'),
        expect.stringContaining("mcp server 'typo' failed: "),
        expect.stringContaining('settings.json is not a valid JSON object'),
      ],
    })
    expect(json.json()).not.toHaveProperty('builtInSilenced')
    const { stdout, code } = await runTapline(['doctor'], { scratch })
    expect(code).toBe(1)
    expect(stdout.split('command not found')).toHaveLength(2)
    expect(stdout).toMatch(/\n {4}What to do: Install it, or write its full path/)
  })

  it('shows overrides, the log, and credentials that others could read', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: { off: stdioEntry(servers.notify) } })
    const override = scratch.write('project/.pi/mcp.json', { mcpServers: { off: { enabled: false } } })
    const signIns = scratch.write('agent/mcp-auth.json', { secret: 'hunter2' })
    chmodSync(signIns, 0o644)
    const log = scratch.write('agent/mcp.log', 'x')
    const json = await runTapline(['doctor', '--json', '--approve'], { scratch })
    expect(json.code).toBe(1)
    expect(json.json()).toMatchObject({
      servers: [{ name: 'off', state: 'disabled', override }],
      problems: [`${signIns} holds tokens and can be read by other users: chmod 600 ${signIns}`],
      log: { path: log, present: true },
      signIns: { path: signIns, mode: '644' },
    })
    chmodSync(signIns, 0o600)
    const { stdout, code } = await runTapline(['doctor', '--approve'], { scratch })
    expect(code).toBe(0)
    expect(stdout).toContain(`  ✓ ${signIns} (mode 600)\n`)
    expect(stdout).toContain(`    changed for this project by ${override}\n`)
    expect(stdout).toContain(`What servers log: ${log}\n`)
    expect(stdout).not.toContain('hunter2')
  })

  it('says of the keychain whether it answers, where a server needs it, and not of what has not let it in', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    await using http = await startHttpFixture(servers.httpMisbehaving, ['--token', 'zq-right'])
    const auth = 'auth = { kind = "bearer", token_keychain_ref = "PI_MCP_TOKEN_HUB" }'
    const hub = `[[server]]\nname = "hub"\nkind = "streamable_http"\nendpoint = "${http.url}"\n${auth}\n`
    scratch.write('agent/loops/mcp.toml', hub)
    scratch.write('agent/mcp.json', {
      mcpServers: { web: { url: http.url, headers: { Authorization: 'Bearer zq-wrong' } } },
    })
    const env = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere', XDG_RUNTIME_DIR: undefined }
    const { stdout, code } = await runTapline(['doctor'], { scratch, env })
    expect(code).toBe(1)
    expect(stdout).toContain(
      '\nCredentials: the operating system’s keychain: there is none that answers here\n',
    )
    expect(stdout).toMatch(
      /^ {2}web: not let in, 0 tools, .*\n {4}The server refused its credential \(HTTP 401\)\.\n {4}What to do: Fix the Authorization header/m,
    )
    expect(stdout).not.toMatch(/zq-|PI_MCP_TOKEN_HUB/)
  })

  it('takes back what silences the MCP support of pi, and nothing else', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const text = '{\n  "theme": "dark",\n  "extensions": [\n    "./mine.ts",\n    "-builtin:mcp"\n  ]\n}\n'
    const path = scratch.write('agent/settings.json', text)
    const done = await runTapline(['doctor', '--undo'], { scratch })
    expect(done).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('Removed "-builtin:mcp"'),
    })
    expect(readFileSync(path, 'utf8')).toBe(text.replace(',\n    "-builtin:mcp"', ''))
    const again = await runTapline(['doctor', '--undo'], { scratch })
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to undo') })
    const json = await runTapline(['doctor', '--undo', '--json'], { scratch })
    expect(json.json()).toEqual({ undone: false })
    const never = await runTapline(['doctor', '--undo', '--json'], {
      scratch,
      env: { PI_CODING_AGENT_DIR: `${scratch.root}/never` },
    })
    expect([never.code, never.json()]).toEqual([0, { undone: false }])
  })

  it('touches no settings that it cannot read', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const path = scratch.write('agent/settings.json', '{ "theme": ')
    const undo = await runTapline(['doctor', '--undo'], { scratch })
    expect(undo).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^pi’s settings\.json.*fix it first\.\n$/),
    })
    expect(readFileSync(path, 'utf8')).toBe('{ "theme": ')
  })
})
