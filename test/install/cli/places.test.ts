import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { servers } from '../../drivers/fixtures.ts'
import { createScratch } from '../../drivers/scratch.ts'
import type { Scratch } from '../../drivers/scratch.ts'
import { runTapline, stdioEntry } from '../tapline.ts'
import type { RunOptions } from '../tapline.ts'

const notify = stdioEntry(servers.notify)
const toml = (name: string): string =>
  `[[server]]\nname = "${name}"\ncommand = ${JSON.stringify(notify.command)}\nargs = ${JSON.stringify(notify.args)}\n`

async function names(
  scratch: Scratch,
  args: readonly string[] = [],
  options: Partial<RunOptions> = {},
): Promise<string[]> {
  const { code, json } = await runTapline(['list', '--json', ...args], { scratch, ...options })
  expect(code).toBe(0)
  return json().servers.map(({ name }: { name: string }) => name)
}

describe('where the command looks', () => {
  it('is the agent directory, the loops directory and the project that it is told', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: { user: notify } })
    scratch.write('agent/loops/mcp.toml', toml('loops'))
    scratch.write('other/mcp.json', { mcpServers: { other: notify } })
    scratch.write('state/mcp.toml', toml('state'))
    scratch.write('home/.pi/agent/mcp.json', { mcpServers: { home: notify } })
    const at = (name: string): string => path.join(scratch.root, name)
    const [plain, agent, loops, home] = await Promise.all([
      names(scratch),
      names(scratch, [], { env: { PI_CODING_AGENT_DIR: at('other') } }),
      names(scratch, [], { env: { PI_LOOPS_DIR: at('state') } }),
      names(scratch, [], { env: { PI_CODING_AGENT_DIR: undefined } }),
    ])
    expect(plain).toEqual(['user', 'loops'])
    expect(agent).toEqual(['other'])
    expect(loops).toEqual(['user', 'state'])
    expect(home).toEqual(['home'])
  })

  it('has in a project the files that somebody said yes to', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const project = realpathSync(scratch.project)
    scratch.write('project/.pi/mcp.json', { mcpServers: { shared: notify } })
    scratch.write('project/.pi/mcp.toml', toml('pushes'))
    scratch.write('project/.pi/tapline.json', { naming: 'server' })
    const run = (...args: string[]) => runTapline(['list', '--json', ...args], { scratch })

    const asked = await run()
    expect([asked.code, asked.json().servers]).toEqual([0, []])
    expect(asked.json().diagnostics.join('\n')).toMatch(/tapline\.json[^]*mcp\.toml/)

    scratch.write('agent/trust.json', { [project]: true })
    expect(await names(scratch)).toEqual(['shared'])
    expect(await names(scratch, ['--no-approve'])).toEqual([])

    const approved = await run('--approve')
    expect(approved.json()).toMatchObject({
      servers: [
        { name: 'shared', tools: [{ name: 'shared__demo_status' }] },
        { name: 'pushes', tools: [{ name: 'pushes__demo_status' }] },
      ],
      diagnostics: [],
    })
    // Approved for that run alone.
    expect(await names(scratch)).toEqual(['shared'])
    expect(existsSync(path.join(scratch.agent, 'tapline', 'trust.json'))).toBe(false)
  })

  it('is the directory of --cwd, wherever it is run', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    scratch.write('agent/mcp.json', { mcpServers: { where: stdioEntry(servers.misbehaving) } })
    scratch.write('project/.pi/mcp.json', { mcpServers: { here: notify } })
    const elsewhere = path.join(scratch.root, 'elsewhere')
    mkdirSync(elsewhere)
    const options = { cwd: elsewhere }
    expect(await names(scratch, ['--cwd', '../project', '--approve'], options)).toEqual(['where', 'here'])
    const call = await runTapline(['call', 'where', 'process', '--cwd', scratch.project], {
      scratch,
      ...options,
    })
    expect(JSON.parse(call.json().content[0].text).cwd).toBe(realpathSync(scratch.project))
    const missing = await runTapline(['list', '--cwd', 'nowhere'], { scratch })
    expect(missing).toMatchObject({ code: 2, stdout: '', stderr: '--cwd: there is no directory nowhere.\n' })
  })
})

describe('the command line', () => {
  it('is explained, and what it does not know refused', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const run = (...args: string[]) => runTapline(args, { scratch })
    const [help, nothing, unknown, inherited, option, seconds] = await Promise.all([
      run('--help'),
      run(),
      run('lsit'),
      run('constructor'),
      run('list', '--jsno'),
      run('watch', '--for', 'ever'),
    ])
    expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Usage: tapline/) })
    for (const command of ['list', 'call', 'watch', 'doctor'])
      expect(help.stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
    expect(nothing).toMatchObject({ code: 2, stdout: '', stderr: help.stdout })
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no command "lsit"'),
    })
    expect(inherited).toMatchObject({ code: 2, stderr: expect.stringContaining('no command "constructor"') })
    expect(option).toMatchObject({ code: 2, stderr: expect.stringContaining("'--jsno'") })
    expect(seconds).toMatchObject({ code: 2, stderr: '--for takes a positive number of seconds.\n' })
  })

  const old = oldNode()
  it.skipIf(old === undefined)(
    'says on an old Node which one it needs (skipped where no old Node is on the PATH)',
    async () => {
      await using scratch = createScratch({ tmp: 'shared' })
      const ran = await runTapline(['list', '--json'], { scratch, node: old! })
      const sentence = /^tapline needs Node 22\.19 or later; this is \d+\.\d+\.\d+\.\n$/
      expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) })
    },
  )
})

/** A Node on the PATH that is older than what Tapline needs. */
function oldNode(): string | undefined {
  const places = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((place) => !place.includes('node_modules'))
  return places
    .map((place) => path.join(place, 'node'))
    .filter((file) => existsSync(file))
    .find((file) => Number(/^v(\d+)/.exec(execFileSync(file, ['--version'], { encoding: 'utf8' }))?.[1]) < 22)
}
