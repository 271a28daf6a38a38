import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Diagnostic, HostPaths, Plugin } from '@tapline/core'
import { createProjects } from '@tapline/core'
import { createTapline, trustStore } from '@tapline/headless'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLending, type Lending, type Loan } from '../../../presets/pi/src/session/agents/lending.ts'
import { processAlive, waitUntil } from '../../drivers/processes.ts'
import { createScratch, type Scratch } from '../../drivers/scratch.ts'
import { gated, misbehaving, PATIENCE_MS, tomlOf } from '../stage.ts'

const info = { name: 'test', version: '1' }
const never = new AbortController().signal

/** A session with servers to lend, and other projects that pi trusts. */
interface Bank {
  readonly scratch: Scratch
  readonly lending: Lending
  readonly said: readonly string[]
  readonly paths: HostPaths
  /** Writes a trusted project's mcp.json and answers its directory. */
  project(name: string, servers: Readonly<Record<string, object>>): string
  borrow(cwd: string, signal?: AbortSignal): Promise<Loan | undefined>
}

async function openBank(
  plugins: readonly Plugin[] = [],
  mcpServers: Readonly<Record<string, object>> = {},
  here?: Readonly<Record<string, object>>,
): Promise<Bank> {
  const scratch = createScratch({ tmp: 'shared' })
  scratch.write('agent/mcp.json', { mcpServers })
  if (here) scratch.write('project/.pi/mcp.json', { mcpServers: here })
  const said: string[] = []
  const say = ({ message }: Diagnostic): void => void said.push(message)
  const { home, agent, project: cwd } = scratch
  const paths = { cwd, home, agentDir: agent, loopsDir: path.join(agent, 'loops') }
  const given = { info, mode: 'rpc', env: process.env, paths } as const
  const session = await createTapline({
    ...given,
    pushes: 'ignore',
    plugins,
    projectTrusted: here !== undefined,
    trust: trustStore(agent),
    registered: () => [],
    onDiagnostic: say,
  })
  const lending = createLending({
    ...given,
    session: () => session.kernel,
    running: (name) => {
      const spec = session.server(name)?.spec
      return spec?.enabled === true ? spec : undefined
    },
    projects: createProjects(home),
    notices: { say, setAside: () => undefined, holdUntil: () => undefined, close: () => undefined },
    refused: false,
  })
  onTestFinished(async () => {
    await lending.close()
    await session.close()
    await scratch.dispose()
  })
  const trusted: Record<string, boolean> = {}
  return {
    scratch,
    lending,
    said,
    paths,
    project: (name, servers) => {
      const directory = path.join(scratch.root, name)
      trusted[directory] = true
      scratch.write('agent/trust.json', trusted)
      scratch.write(`${name}/.pi/mcp.json`, { mcpServers: servers })
      return directory
    },
    borrow: (directory, signal = never) => lending.borrow(directory, signal),
  }
}

const namesOf = (loan: Loan | undefined, taken: readonly string[] = []): readonly string[] =>
  loan?.tools((name) => taken.includes(name)).map(({ name }) => name) ?? []

/** Where the process of a lent server runs, and its id. */
async function processOf(loan: Loan | undefined, server: string): Promise<{ pid: number; cwd: string }> {
  const session = loan!.server(server)!.session
  const { content } = await session.callTool('process', {})
  return JSON.parse((content[0] as { text: string }).text)
}

async function gone(pid: number): Promise<void> {
  await waitUntil(() => !processAlive(pid), PATIENCE_MS, `the end of ${pid}`)
}

describe('servers of another project', () => {
  it('are connected once, in its directory, and as its file says by then', async () => {
    const bank = await openBank([], { user: { command: '/no/such/program' } })
    const cwd = bank.project('other', { one: misbehaving(), off: { ...misbehaving(), enabled: false } })
    const first = await bank.borrow(cwd)
    const process = await processOf(first, 'one')
    expect(process.cwd).toBe(cwd)
    expect(namesOf(first)).toContain('mcp__one__echo')
    expect(namesOf(first).some((name) => /user|off/.test(name))).toBe(false)
    first!.giveBack()

    bank.project('other', { one: misbehaving(), two: misbehaving() })
    const second = await bank.borrow(path.join(bank.scratch.root, 'project', '..', 'other'))
    expect(namesOf(second)).toEqual(expect.arrayContaining(['mcp__one__echo', 'mcp__two__echo']))
    expect(await processOf(second, 'one')).toEqual(process)

    bank.project('other', { two: misbehaving() })
    const third = await bank.borrow(cwd)
    expect(namesOf(third).filter((name) => name.startsWith('mcp__one'))).toEqual([])
    expect(second!.server('one')).toBeUndefined()
    await gone(process.pid)
    const { pid } = await processOf(third, 'two')
    await bank.lending.close()
    await gone(pid)
    expect(await bank.borrow(cwd)).toBeUndefined()
    expect(bank.said).toEqual([])
  })

  it('are the person’s own as well, where they run there and not here; of the others it says how they are wanted', async () => {
    const bank = await openBank([], {
      shared: misbehaving(),
      plain: misbehaving(),
      off: { ...misbehaving(), enabled: false },
      never: { ...misbehaving(), enabled: false },
    })
    const cwd = bank.project('other', {
      shared: { enabled: false, toolExposure: { crash: 'hidden' } },
      off: { enabled: true, exposure: 'direct' },
    })
    const loan = await bank.borrow(cwd)
    expect(loan!.servers.map(({ spec }) => spec.name)).toEqual(['off'])
    expect(namesOf(loan)).toContain('mcp__off__echo')
    expect((await processOf(loan, 'off')).cwd).toBe(cwd)
    expect(loan!.override('shared')).toMatchObject({ enabled: false, toolExposure: { crash: 'hidden' } })
    expect([loan!.override('plain'), loan!.override('off'), loan!.server('shared')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    // What a file says by then counts, and what nobody trusts any more does not.
    bank.project('other', { shared: { exposure: 'direct' } })
    const second = await bank.borrow(cwd)
    expect(second!.override('shared')).toMatchObject({ enabled: true, exposure: 'direct' })
    expect(loan!.override('shared')).toMatchObject({ enabled: true })
    expect(second!.servers).toEqual([])
    bank.scratch.write('agent/trust.json', { [cwd]: false })
    expect(await bank.borrow(cwd)).toBeUndefined()
    expect(second!.override('shared')).toBeUndefined()
  })

  it('that this session’s project wants otherwise are there as the person’s own file has them', async () => {
    const own = { hushed: misbehaving(), aside: misbehaving(), plain: misbehaving() }
    const here = { hushed: { exposure: 'hidden' }, aside: { enabled: false } }
    const bank = await openBank([], own, here)
    const bare = path.join(bank.scratch.root, 'bare')
    mkdirSync(bare)
    const loan = await bank.borrow(bare)
    expect(loan!.servers.map(({ spec }) => spec.name)).toEqual(['aside'])
    expect(loan!.override('hushed')).toMatchObject({ enabled: true, exposure: 'codemode' })
    expect(loan!.override('plain')).toBeUndefined()
  })

  it('are not lent to this session’s own project, or where there are none', async () => {
    const bank = await openBank()
    const own = bank.project('project', { own: misbehaving() })
    mkdirSync(path.join(own, 'below'))
    mkdirSync(path.join(bank.scratch.root, 'bare'))
    const around = bank.project('.', { around: misbehaving() })
    for (const cwd of [own, path.join(own, 'below'), `${bank.scratch.root}/bare`, '/nowhere'])
      expect(await bank.borrow(cwd)).toBeUndefined()
    // Around this session's project lies another one.
    expect(namesOf(await bank.borrow(around))).toContain('mcp__around__echo')
    expect(bank.said).toEqual([])
  })

  it('have names apart from those that are taken', async () => {
    const bank = await openBank()
    const cwd = path.join(bank.scratch.root, 'other')
    const file = bank.scratch.write('other/.pi/mcp.toml', tomlOf({ lent: misbehaving() }))
    await trustStore(bank.paths.agentDir).save(
      { path: file, directory: cwd, content: readFileSync(file, 'utf8') },
      true,
    )
    const loan = await bank.borrow(cwd)
    expect(namesOf(loan)).toEqual(expect.arrayContaining(['echo', 'slow']))
    const apart = namesOf(loan, ['echo'])
    expect(apart).toEqual(expect.arrayContaining(['lent_echo', 'slow']))
    expect(apart).not.toContain('echo')
  })

  it('are those of eight projects, the one that nobody used for longest goes, and none that is in use', async () => {
    const bank = await openBank()
    const cwds = Array.from({ length: 9 }, (_, at) => bank.project(`p${at}`, { s: misbehaving() }))
    const loans: (Loan | undefined)[] = []
    const pids: number[] = []
    for (const cwd of cwds.slice(0, 8)) {
      const loan = await bank.borrow(cwd)
      loans.push(loan)
      pids.push((await processOf(loan, 's')).pid)
    }
    const last = cwds[8]!
    expect(await bank.borrow(last)).toBeUndefined()
    expect(bank.said).toEqual([
      `The MCP servers of ${last} are not lent: those of 8 other projects are in use.`,
    ])
    // Given back twice is given back once.
    const again = await bank.borrow(cwds[2]!)
    for (const loan of [loans[2], loans[2], loans[5], loans[4]]) loan!.giveBack()
    expect(namesOf(await bank.borrow(last))).toContain('mcp__s__echo')
    await gone(pids[4]!)
    expect(pids.map(processAlive)).toEqual([true, true, true, true, false, true, true, true])
    expect((await processOf(again, 's')).pid).toBe(pids[2])
    await bank.lending.close()
    for (const pid of pids) await gone(pid)
  })

  it('are waited for ten seconds, each; what was slower is there later', async () => {
    const bank = await openBank()
    const gate = path.join(bank.scratch.root, 'gate')
    const cwd = bank.project('other', {
      quick: misbehaving(),
      dead: { command: '/no/such/program' },
      slow: gated(gate, misbehaving()),
      silent: misbehaving('--silent'),
    })
    const at = performance.now()
    const first = namesOf(await bank.borrow(cwd))
    const waited = performance.now() - at
    expect(waited).toBeGreaterThan(9_900)
    expect(waited).toBeLessThan(20_000)
    expect(first).toContain('mcp__quick__echo')
    expect(first).not.toContain('mcp__slow__echo')
    bank.scratch.write('gate', '')
    // Whoever is told to end does not wait.
    const loan = await bank.borrow(cwd, AbortSignal.timeout(1_000))
    expect(performance.now() - at - waited).toBeLessThan(9_000)
    await waitUntil(() => namesOf(loan).includes('mcp__slow__echo'), PATIENCE_MS, 'the slow one')
    expect(bank.said.filter((text) => text.includes("'dead'"))).toHaveLength(1)
    expect(bank.said.find((text) => text.includes("'dead'"))).toMatch(
      new RegExp(`^In ${cwd}: mcp server 'dead' failed: `),
    )
  })

  it('are reached and shown as the session’s plugins say, which are set up once', async () => {
    let setups = 0
    const plugin: Plugin = {
      name: 'house-rules',
      api: 1,
      setup({ hooks }) {
        setups++
        hooks.connect.tap({ stage: 'early' }, ({ server, error }) => {
          if (server.name === 'barred') throw error('CONNECT_FAILED', 'Not in this house.')
          return undefined
        })
        hooks.registerTool.tap({}, (tool) =>
          tool.serverTool.name === 'crash' ? { ...tool, hidden: 'not in this house' } : undefined,
        )
      },
    }
    const bank = await openBank([plugin])
    const cwd = bank.project('other', { barred: misbehaving(), fine: misbehaving() })
    const names = namesOf(await bank.borrow(cwd))
    expect(names).toContain('mcp__fine__echo')
    expect(names.filter((name) => /barred|crash/.test(name))).toEqual([])
    expect(bank.said).toEqual([expect.stringContaining("mcp server 'barred' failed: Not in this house.")])
    expect(setups).toBe(1)
  })

  it('follow the project’s settings as long as these are trusted', async () => {
    const bank = await openBank()
    const cwd = bank.project('other', { one: misbehaving() })
    const file = bank.scratch.write('other/.pi/tapline.toml', 'naming = "server"\n')
    const question = { path: file, directory: cwd, content: readFileSync(file, 'utf8') }
    const store = trustStore(bank.paths.agentDir)
    expect(namesOf(await bank.borrow(cwd))).toContain('mcp__one__echo')
    await store.save(question, true)
    expect(namesOf(await bank.borrow(cwd))).toContain('one__echo')
    await store.save(question, false)
    const last = await bank.borrow(cwd)
    expect(namesOf(last)).toContain('mcp__one__echo')
    const start = `In ${cwd}: .pi/tapline.toml is not used for sub-agents that work there: `
    expect(bank.said).toEqual([
      `${start}nobody said yes to it; a pi that is started there asks.`,
      `${start}somebody said no to it.`,
    ])
  })
})
