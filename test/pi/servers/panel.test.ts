import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { preparePi } from '../../drivers/pi-process.ts'
import { runPi } from '../../drivers/pi-run.ts'
import { killQuietly, waitUntil } from '../../drivers/processes.ts'
import { startTerminal, type Terminal } from '../../drivers/terminal.ts'
import { startSource } from '../pushes/source.ts'
import { createStage, misbehaving, PATIENCE_MS, TAPLINE, type Stage } from '../stage.ts'

/** How {@link openPanel} starts pi. */
interface Opening {
  readonly columns?: number
  readonly rows?: number
  readonly theme?: string
  /** Further extensions. */
  readonly more?: readonly string[]
  /** What is typed before the panel is opened. */
  readonly before?: string
}

/** pi with the panel of servers open. */
async function openPanel(
  { scratch, model }: Stage,
  ready: RegExp,
  { columns = 80, rows = 24, theme = 'dark', more = [], before }: Opening = {},
): Promise<Terminal> {
  const args = [...[TAPLINE, ...more].flatMap((file) => ['-e', file]), '--approve']
  const prepared = preparePi({ scratch, model, args, settings: { theme } })
  const terminal = await startTerminal({ ...prepared, columns, rows })
  await terminal.waitForScreen(ready, PATIENCE_MS)
  if (before !== undefined) await terminal.submit(before)
  await terminal.submit('/mcp')
  await terminal.waitForScreen(/^ MCP servers\b/m, PATIENCE_MS)
  return terminal
}

/** The panel's own lines. */
function panelOf(screen: string): string {
  return /^─+\n( .*?)^─+$/ms.exec(screen)?.[1] ?? ''
}

/** Waits for a line of the panel, and answers the panel. */
async function seen(terminal: Terminal, match: RegExp): Promise<string> {
  return panelOf(await terminal.waitForScreen((screen) => match.test(panelOf(screen)), PATIENCE_MS))
}

/** Escape and a key after it would be one key, were they not apart. */
async function back(terminal: Terminal, to: RegExp): Promise<string> {
  await terminal.key('Escape')
  const panel = await seen(terminal, to)
  await sleep(50)
  return panel
}

const configured = ({ scratch }: Stage): string => readFileSync(path.join(scratch.agent, 'mcp.json'), 'utf8')

describe('the panel of servers in the real pi', () => {
  it('lists servers, opens one, and shows what it offers, in eighty columns and twenty-four rows', async () => {
    await using source = await startSource()
    await using stage = await createStage()
    stage.json({
      hub: { url: source.url, exposure: 'direct', toolExposure: { bad: 'hidden' } },
      broken: { command: '/nowhere/server', args: ['--token', 'ghp_abcdefghijkl1234'] },
      off: { ...misbehaving(), enabled: false },
      wrong: { comand: 'x' },
    })
    await using terminal = await openPanel(stage, /^ *MCP 1\/2 · 1 down/m)
    const list = await seen(terminal, /esc close$/m)
    expect(list.split('\n').map((line) => line.trimEnd())).toEqual([
      ' MCP servers  1 of 2 connected, 1 needs attention',
      expect.stringMatching(/^ ! mcp server 'wrong' failed: it needs either "command"/),
      expect.stringMatching(/^ {3}.*did you mean "command" by "comand"\?$/),
      expect.stringMatching(/^ {3}\(.*agent\/mcp\.json:\d+\)$/),
      expect.stringMatching(/^ {5}server {2}state +exposure {2}source {2}era$/),
      expect.stringMatching(/^ › × broken {2}disconnected: failed to spawn.* codemode {2}user$/),
      expect.stringMatching(/^ {3}• hub {5}connected · 14 tools +direct {4}user {4}legacy$/),
      expect.stringMatching(/^ {3}∘ off {5}disabled +codemode {2}user$/),
      '',
      ' failed to spawn /nowhere/server: command not found',
      expect.stringMatching(/^ Install it, or write its full path in the entry/),
      expect.stringMatching(/^ stdio: \/nowhere\/server --token \[REDACTED/),
      expect.stringMatching(/^ user: .*agent\/mcp\.json:\d+$/),
      '',
      ' enter open · r reconnect · x exposure · d disable · / find · esc close',
      '',
    ])

    await source.heard()
    await source.push('one')
    await seen(terminal, /• hub .* 1 ↓ *$/m)
    await terminal.key('Down', 'Enter')
    const server = await seen(terminal, /^ hub {2}connected · 14 tools/m)
    expect(server).toMatch(/^ › t {2}Tools +14 offered$/m)
    expect(server).toMatch(/^ {3}n {2}Pushes +1 push, last (?:just now|\d+ s ago): 1 dropped$/m)
    expect(server).toMatch(/^ {3}c {2}Connection +2025-11-25 \(legacy\), push stream open/m)

    await terminal.key('t')
    const tools = await seen(terminal, /^ Tools of hub {2}14 tools/m)
    expect(tools).toMatch(/^ direct: declared to the model; 1 of them otherwise, by toolExposure$/m)
    expect(tools).toMatch(/^ › ask +direct +Sends a request/m)
    expect(tools).toMatch(/^ {3}bad +hidden +Fails as a request does\.$/m)
    await terminal.key('Enter')
    const tool = await seen(terminal, /^ called +mcp__hub__ask$/m)
    expect(tool).toMatch(/^ Parameters$/m)
    await back(terminal, /^ Tools of hub/m)
    await back(terminal, /^ hub {2}connected/m)

    await terminal.key('u')
    await seen(terminal, /^ Resources of hub {2}1 resource\n\n › fixture:\/\/one {2}one$/m)
    await back(terminal, /^ hub {2}connected/m)
    await terminal.key('p')
    await seen(terminal, /^ The server has none\.$/m)
    await back(terminal, /^ hub {2}connected/m)
    await terminal.key('n')
    await seen(terminal, /^ › [\d:]{8} {2}dropped \(no rules\) +demo\/event <one>$/m)
    await source.push('two')
    await seen(terminal, /0 delivered · .* · 2 dropped · 0 pending\n[^]*^ › [\d:]{8} {2}dropped.*<two>$/m)
    await back(terminal, /^ hub {2}connected/m)

    await terminal.key('l')
    await seen(terminal, /^ It has logged nothing lately\.$/m)
    await source.notify('notifications/message', {
      level: 'error',
      logger: 'db',
      data: 'the disk is\nfull \u001B[31m',
    })
    await seen(terminal, /^ [\d:]{8} {2}error db: the disk is\n {11}full *$/m)
    await back(terminal, /^ hub {2}connected/m)
    // Read at once, two are one to pi.
    await terminal.key('Escape', 'Escape')
    await terminal.waitForScreen(
      (screen) => panelOf(screen) === '' || !screen.includes('MCP servers'),
      PATIENCE_MS,
    )
    await terminal.submit('hello')
    await stage.model.waitForRequest(undefined, PATIENCE_MS)
  })

  it('changes exposure, disables and enables, here and in the project, and leaves the rest of the files alone', async () => {
    await using stage = await createStage()
    // With an indent and a blank of its own.
    const written = (exposure: string): string =>
      JSON.stringify({ note: 'mine', mcpServers: { hub: { ...misbehaving(), exposure } } }, null, 4).replace(
        '"note"',
        '"note" ',
      )
    stage.scratch.write('agent/mcp.json', written('direct'))
    stage.scratch.write('project/.pi/mcp.json', { mcpServers: {} })
    const log = stage.log('other')
    stage.toml({ other: misbehaving('--log', log.path) })
    await using terminal = await openPanel(stage, /^ *MCP 2\/2/m)
    await terminal.key('x')
    await seen(terminal, /^ › • direct +declared to the model$/m)
    await terminal.key('Down', 'Enter')
    await seen(terminal, /^ hub: connected · 14 tools · hidden\. Saved to/m)
    expect(configured(stage)).toBe(written('hidden'))
    await seen(terminal, /• hub +connected · 14 tools +hidden/)

    await terminal.key('d')
    await seen(terminal, /^ Disable hub\? d again: yes\. Any other key: no\.$/m)
    await terminal.key('d')
    await seen(terminal, /^ hub: disabled · hidden\. Saved to/m)
    expect(JSON.parse(configured(stage)).mcpServers.hub.enabled).toBe(false)
    // What is selected has moved to the end.
    await seen(terminal, /^ › ∘ hub +disabled/m)
    await terminal.key('d')
    await seen(terminal, /^ hub: connected · 14 tools · hidden\. Saved to/m)
    expect(JSON.parse(configured(stage)).mcpServers.hub).not.toHaveProperty('enabled')

    await terminal.key('Enter')
    await seen(terminal, /^ {3}w {2}Disable in this project +saved in \.pi\/mcp\.json$/m)
    await terminal.key('w')
    await seen(terminal, /^ hub {2}disabled$/m)
    const project = JSON.parse(readFileSync(path.join(stage.scratch.project, '.pi/mcp.json'), 'utf8'))
    expect(project).toEqual({ mcpServers: { hub: { enabled: false } } })
    const page = await seen(terminal, /^ {3}d {2}Enable +saved in \.pi\/mcp\.json$/m)
    expect(page).toMatch(/^ overridden for this project: \.pi\/mcp\.json$/m)

    await back(terminal, /^ {3}∘ hub|^ › ∘ hub/m)
    await terminal.key('Home')
    await seen(terminal, /^ › • other/m)
    await terminal.key('r')
    await seen(terminal, /^ MCP server "other" is connected \(14 tools\)\.$/m)
    expect(log.pids()).toHaveLength(2)
  })

  it('shows a server die and come back, and keeps what is selected', async () => {
    await using stage = await createStage()
    const log = stage.log('frail')
    stage.json({ alpha: misbehaving(), frail: misbehaving('--log', log.path, '--stderr', 'up and running') })
    await using terminal = await openPanel(stage, /^ *MCP 2\/2/m, { columns: 100, rows: 30 })
    await terminal.key('Down')
    await seen(terminal, /^ › • frail/m)
    const [first = 0] = log.pids()
    killQuietly(first, 'SIGKILL')
    await seen(terminal, /^ › (?:↻ frail +reconnecting|… frail +connecting)/m)
    await waitUntil(() => log.pids().length === 2, PATIENCE_MS, 'the server to be started again')
    await seen(terminal, /^ › • frail +connected · 14 tools/m)
    await terminal.key('Enter')
    await seen(terminal, /^ {3}e {2}Stderr +up and running$/m)
    await terminal.key('e')
    await seen(terminal, /^ Stderr of frail {2}followed\n up and running$/m)
    await back(terminal, /^ frail /m)
    await terminal.key('c')
    const connection = await seen(terminal, /^ state +connected, since \d\d:\d\d:\d\d \(\d+ s\)$/m)
    expect(connection).toContain(` process       pid ${log.pids()[1]}\n`)
  })

  it('scrolls, is searched, and survives any size of the terminal and any theme', async () => {
    await using stage = await createStage()
    const many = Array.from({ length: 40 }, (_, n) => [
      `s${String(n).padStart(2, '0')}`,
      { ...misbehaving(), enabled: false },
    ])
    stage.json({ hub: misbehaving(), ...Object.fromEntries(many) })
    const dark = JSON.parse(readFileSync(themeFile('dark'), 'utf8')) as Record<string, object>
    const colors = Object.fromEntries(Object.keys(dark['colors'] ?? {}).map((name) => [name, '#3366cc']))
    stage.scratch.write('agent/themes/mine.json', { ...dark, name: 'mine', colors })
    for (const theme of ['light', 'mine']) {
      await using terminal = await openPanel(stage, /^ *MCP 1\/1/m, { theme })
      await seen(terminal, /^ › • hub[^]*^ {3}1 to \d+ of 41$/m)
      await terminal.key('PageDown', 'PageDown')
      await seen(terminal, /^ › ∘ s1\d/m)
      await terminal.key('End')
      await seen(terminal, /^ › ∘ s39[^]*to 41 of 41$/m)
      await terminal.type('/s2')
      await seen(terminal, /^ \/ s2[^]*^ › ∘ s20/m)
      for (const [columns, rows] of [
        [20, 30],
        [12, 10],
        [10, 6],
        [200, 50],
        [80, 24],
      ] as const) {
        await terminal.resize(columns, rows)
        await terminal.waitForScreen(
          (screen) => screen.includes('› ∘ s20') || screen.includes('› ∘ s2'),
          PATIENCE_MS,
        )
      }
      await terminal.key('Enter')
      await seen(terminal, /^ › d {2}Enable /m)
      await back(terminal, /^ \/ s2/m)
      await back(terminal, /of 41$/m)
      await terminal.key('Escape')
      await terminal.waitForScreen((screen) => !screen.includes('MCP servers'), PATIENCE_MS)
      await terminal.submit('/mcp status')
      const printed = await terminal.waitForScreen(/s39: disabled/, PATIENCE_MS)
      expect(printed).not.toContain('Error')
    }
  })

  it('is taken away by the end of its session, and pi goes on listening', async () => {
    await using stage = await createStage()
    stage.json({ hub: misbehaving() })
    const ending = stage.extension(
      'ending',
      `pi.registerCommand('ending', { handler: async (_, ctx) => void setTimeout(() => ctx.reload(), 1_000) })`,
    )
    await using terminal = await openPanel(stage, /^ *MCP 1\/1/m, { more: [ending], before: '/ending' })
    await terminal.waitForScreen(/^ *Reloaded /m, PATIENCE_MS)
    expect(panelOf(await terminal.screen())).not.toContain('MCP servers')
    await terminal.waitForScreen(/^ *MCP 1\/1/m, PATIENCE_MS)
    await terminal.submit('/mcp')
    await seen(terminal, /^ › • hub /m)
    await terminal.key('Escape')
    await terminal.waitForScreen((screen) => !panelOf(screen).includes('MCP servers'), PATIENCE_MS)
    await terminal.submit('hello')
    await stage.model.waitForRequest(undefined, PATIENCE_MS)
  })

  it('says how to begin where nothing is configured', async () => {
    await using stage = await createStage()
    await using terminal = await openPanel(stage, /fake-1/)
    const panel = await seen(terminal, /^ No MCP servers are configured\./m)
    expect(panel.replaceAll(/\s+/g, ' ')).toContain('Add one in a shell with "pi mcp add", or write it into')
  })
})

it('the servers are text where there is no panel', async () => {
  await using stage = await createStage()
  stage.json({ hub: misbehaving(), broken: { command: '/nowhere/server' } })
  const commands = ['/mcp', '/mcp status hub', '/mcp status hub echo']
  const { code, stdout, stderr } = await runPi(['-e', TAPLINE, '-p', ...commands], stage)
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toMatch(/^ *hub: connected · 14 tools/m)
  expect(stderr).toMatch(/^ *broken: disconnected/m)
  expect(stderr).toMatch(/^ {2}process +pid \d+$/m)
  expect(stderr).toMatch(/^ {4}echo +codemode +mcp__hub__echo/m)
  expect(stderr).toMatch(/^called +mcp__hub__echo$/m)
})

function themeFile(name: string): string {
  const dist = path.dirname(new URL(import.meta.resolve('@earendil-works/pi-coding-agent')).pathname)
  return path.join(dist, 'modes/interactive/theme', `${name}.json`)
}
