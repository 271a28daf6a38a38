import { chmodSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { createScratch } from '../../drivers/scratch.ts'
import { runTapline, stdioEntry } from '../tapline.ts'

describe('tapline doctor', () => {
  it('says what is configured, from where, and that all is well', async () => {
    await using scratch = createScratch()
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
    expect(text.stdout).toContain(`  good: connected, 1 tools, from ${path}\nProblems\n  none\n`)
    expect(text.stdout).toContain('"tapline doctor --undo" takes that back.')
  })

  it('says of what is wrong once what to do about it', async () => {
    await using scratch = createScratch()
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
          attention: expect.stringContaining('Fix the server entry'),
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
    expect(stdout).toMatch(/\n {4}What to do: Fix the server entry/)
  })

  it('shows overrides, the log, and credentials that others could read', async () => {
    await using scratch = createScratch()
    scratch.write('agent/mcp.json', { mcpServers: { off: stdioEntry(servers.notify) } })
    const override = scratch.write('project/.pi/mcp.json', { mcpServers: { off: { enabled: false } } })
    const signIns = scratch.write('agent/mcp-auth.json', { secret: 'hunter2' })
    chmodSync(signIns, 0o644)
    const log = scratch.write('agent/mcp.log', 'x')
    const json = await runTapline(['doctor', '--json', '--approve'], { scratch })
    expect(json.code).toBe(1)
    expect(json.json()).toMatchObject({
      servers: [{ name: 'off', state: 'disabled', override }],
      problems: [expect.stringMatching(/mcp-auth\.json holds credentials .* \(mode 644\): chmod 600 it\.$/)],
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

  it('takes back what silences the MCP support of pi, and nothing else', async () => {
    await using scratch = createScratch()
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
    await using scratch = createScratch()
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
