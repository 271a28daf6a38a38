import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { arrive, type Browser, createBrowser } from '../drivers/browser.ts'
import { type HttpFixture, servers, startHttpFixture } from '../drivers/fixtures.ts'
import { preparePi, spawnPi } from '../drivers/pi-process.ts'
import { exitOf, waitUntil, within } from '../drivers/processes.ts'
import { createScratch, type Scratch } from '../drivers/scratch.ts'
import { runTapline, startTapline, type Ran } from '../install/tapline.ts'

/** A protected server with its authorization server, an agent directory, and a browser that does not open by itself. */
export interface SignInStage extends AsyncDisposable {
  readonly scratch: Scratch
  readonly server: HttpFixture
  readonly browser: Browser
  /** For processes that open browsers: they write down the address instead. */
  readonly env: Readonly<Record<string, string>>
  /** The user's mcp.json, with the server under this name. */
  entry(name: string, more?: object): void
  /** The addresses that were opened, once there are this many. */
  opened(count: number): Promise<readonly string[]>
  /** The grants that the authorization server gave or refused, in order. */
  grants(): Promise<string[]>
  /** What mcp-auth.json holds. */
  stored(): Record<string, { tokens?: Record<string, unknown>; [field: string]: unknown }>
  /** Runs `tapline login` and lets the person approve. */
  login(name: string): Promise<Ran>
  tapline(...args: readonly string[]): Promise<Ran>
  /** Runs `pi mcp …`; with `approves`, the person approves what it opens. */
  pi(
    args: readonly string[],
    approves?: boolean,
  ): Promise<{ readonly code: number | null; readonly output: string }>
}

export async function createSignInStage(...flags: readonly string[]): Promise<SignInStage> {
  const server = await startHttpFixture(servers.httpProtected, flags)
  const scratch = createScratch({ tmp: 'shared' })
  const browser = createBrowser()
  const log = path.join(scratch.root, 'opened.txt')
  // Linux and macOS have other names for what opens an address.
  for (const name of ['xdg-open', 'open']) {
    const file = scratch.write(`bin/${name}`, `#!/bin/sh\nprintf '%s\\n' "$1" >> "${log}"\n`)
    chmodSync(file, 0o755)
  }
  const env = {
    PATH: [path.join(scratch.root, 'bin'), path.dirname(process.execPath), process.env.PATH].join(
      path.delimiter,
    ),
  }
  const opened = (): string[] =>
    existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []
  const openedTimes = (count: number): Promise<readonly string[]> =>
    waitUntil(
      () => (opened().length >= count ? opened() : undefined),
      20_000,
      () => `${count} opened addresses; there are ${opened().length}`,
    )
  const approveNext = async (before: number): Promise<void> => {
    const [address = ''] = (await openedTimes(before + 1)).slice(before)
    await arrive(await browser.approve(address))
  }
  return {
    scratch,
    server,
    browser,
    env,
    entry: (name, more = {}) =>
      void scratch.write('agent/mcp.json', { mcpServers: { [name]: { url: server.url, ...more } } }),
    opened: openedTimes,
    grants: async () => (await server.control({ do: 'counts' })).grants as string[],
    stored: () => JSON.parse(readFileSync(path.join(scratch.agent, 'mcp-auth.json'), 'utf8')) as never,
    login: async (name) => {
      const before = opened().length
      const running = startTapline(['login', name], { scratch, env })
      await Promise.race([approveNext(before), running.exited])
      const exit = await within(running.exited, 30_000, () => `tapline login to end: ${running.stderr}`)
      const { stdout, stderr } = running
      return { ...exit, stdout, stderr, json: () => JSON.parse(stdout) }
    },
    tapline: (...args) => runTapline(args, { scratch, env }),
    pi: async (args, approves = false) => {
      const before = opened().length
      const child = spawnPi(preparePi({ scratch, env }, ['mcp', ...args]), 'ignore')
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
      const exited = exitOf(child)
      try {
        if (approves) await Promise.race([approveNext(before), exited])
        const { code } = await within(exited, 60_000, () => `pi mcp ${args.join(' ')} to end: ${output}`)
        return { code, output }
      } finally {
        child.kill('SIGKILL')
      }
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await scratch.dispose()
    },
  }
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
