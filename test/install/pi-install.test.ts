import { globSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transcript } from '../drivers/chat.ts'
import { servers, startHttpFixture } from '../drivers/fixtures.ts'
import { waitUntil } from '../drivers/processes.ts'
import { startRegistry } from '../drivers/registry.ts'
import type { Registry } from '../drivers/registry.ts'
import { pack } from '../packed/pack.ts'
import type { Packed } from '../packed/pack.ts'
import { commitWorkingTree, configure, createHome, expectServers, expectService } from './installation.ts'
import type { Home } from './installation.ts'
import { runTapline, stdioEntry } from './tapline.ts'

let packed: readonly Packed[]
let registry: Registry

beforeAll(async () => {
  packed = await pack()
  registry = await startRegistry(packed.map(({ tarball }) => tarball))
})
afterAll(() => registry?.close())

it('has nothing wrong with any package', () => {
  expect(packed.map(({ name, problems }) => ({ name, problems }))).toEqual(
    packed.map(({ name }) => ({ name, problems: [] })),
  )
  expect(packed.map(({ name }) => name)).toContain('@tapline/pi')
})

describe('installed from npm', () => {
  let home: Home
  const installed = (...parts: string[]): string =>
    path.join(home.scratch.agent, 'npm', 'node_modules', ...parts)

  beforeAll(async () => {
    home = await createHome(registry)
    await home.install('npm:@tapline/pi')
  })
  afterAll(() => home?.[Symbol.asyncDispose]())

  it('serves pi, from built files alone', async () => {
    const log = path.join(home.scratch.root, 'loaded')
    const hooks = home.scratch.write('hooks.mjs', loadLogger(log))
    configure(home)
    const pi = await home.start({ NODE_OPTIONS: `--import=${pathToFileURL(hooks).href}` })
    await expectService(home, pi)
    await pi.close()

    expect(
      globSync('@tapline/**/*.{ts,mts}', { cwd: installed() }).filter((file) => !/\.d\.m?ts$/.test(file)),
    ).toEqual([])
    const loaded = readFileSync(log, 'utf8').trim().split('\n')
    const own = loaded.filter((url) => url.includes('/node_modules/@tapline/'))
    expect(own.length).toBeGreaterThan(50)
    expect(
      own.filter(
        (url) => !/\/@tapline\/[a-z-]+\/((entry|native)\.mjs|package\.json|dist\/.+\.js)$/.test(url),
      ),
    ).toEqual([])
    // The loader of pi has transpiled nothing.
    expect(globSync('jiti/*', { cwd: home.scratch.tmp })).toEqual([])
    expect(registry.served).toContain('@tapline/streamable-http')
    expect(existsSync(installed('@earendil-works'))).toBe(false)
  })

  it('brings the command', async () => {
    configure(home)
    const list = await runTapline(['list', '--json'], {
      scratch: home.scratch,
      script: realpathSync(installed('.bin', 'tapline')),
    })
    expect(list).toMatchObject({ code: 0, stderr: '' })
    expect(
      list.json().servers.map(({ name, state }: { name: string; state: string }) => [name, state]),
    ).toEqual([
      ['everything', 'connected'],
      ['notify', 'connected'],
    ])
  })

  it('takes the pushes of a sink, and the servers of a transport, that other packages add', async () => {
    await home.install('npm:tapline-file-sink')
    await home.install('npm:tapline-websocket-transport')
    await using remote = await startHttpFixture(servers.websocket)
    const file = path.join(home.scratch.root, 'out', 'pushes.jsonl')
    home.scratch.write('agent/tapline.json', {
      options: { 'file-sink': { path: file }, websocket: { clock: remote.url.replace('http:', 'ws:') } },
      push: { beats: { default: 'file' } },
    })
    configure(home, { beats: stdioEntry(servers.notify, '--every', '50', '--count', '2') })
    const pi = await home.start()
    await expectServers(pi, /clock: connected · 2 tools/, /beats: connected · 1 tool/)
    await pi.prompt('CALL mcp__clock__shout {"text":"over websocket"}')
    expect(transcript(home.model.requests().at(-1)!)).toContain('OVER WEBSOCKET')
    await waitUntil(() => existsSync(file) && readFileSync(file, 'utf8').split('\n').length > 2)
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject(
      [1, 2].map((beat) => ({
        server: 'beats',
        method: 'notifications/pi/demo/heartbeat',
        summary: expect.stringContaining(`demo beat ${beat}`),
      })),
    )

    // What it cannot do by itself, Tapline does for it: a lost connection is opened again.
    await pi.prompt('CALL mcp__clock__hang_up {}')
    await waitUntil(async () => (await remote.control({ do: 'status' })).opened === 2)
    await expectServers(pi, /clock: connected · 2 tools/)
    await pi.prompt('CALL mcp__clock__shout {"text":"again"}')
    expect(transcript(home.model.requests().at(-1)!)).toContain('AGAIN')
    await pi.close()
  })
})

describe('installed from a git repository', () => {
  let home: Home
  const clone = (): string => path.join(home.scratch.agent, 'git', 'github.com', 'tapline', 'tapline')

  beforeAll(async () => {
    home = await createHome(registry)
    const origin = path.join(home.scratch.root, 'origin')
    commitWorkingTree(origin)
    const address = 'https://github.com/tapline/tapline'
    home.scratch.write('home/.gitconfig', `[url "${pathToFileURL(origin).href}"]\n\tinsteadOf = ${address}\n`)
    await home.install('git:github.com/tapline/tapline')
  })
  afterAll(() => home?.[Symbol.asyncDispose]())

  it('runs from its sources as cloned, without what development needs', async () => {
    configure(home)
    const pi = await home.start()
    await expectService(home, pi)
    await pi.close()
    expect(existsSync(path.join(clone(), 'core', 'dist'))).toBe(false)
    for (const name of ['typescript', 'vitest', 'node', '@earendil-works/pi-coding-agent']) {
      expect(existsSync(path.join(clone(), 'node_modules', name))).toBe(false)
    }
  })

  it('runs from a path as well', async () => {
    await using other = await createHome(registry)
    mkdirSync(path.join(other.scratch.agent), { recursive: true })
    await other.install(clone())
    configure(other)
    const pi = await other.start()
    await expectService(other, pi)
    await pi.close()
    expect(existsSync(path.join(other.scratch.agent, 'git'))).toBe(false)
  })
})

/** A module that writes the address of everything that Node loads to a file. */
function loadLogger(file: string): string {
  return `
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, next) {
    appendFileSync(${JSON.stringify(file)}, url + '\\n')
    return next(url, context)
  },
})
`
}
