import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Parsed } from './chat.ts'
import { exitOf, waitUntil, within } from './processes.ts'
import { markedEnv } from './test-root.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/servers/${name}.mjs`, import.meta.url))

/** The scripts of the fixture servers, of the example, and of the servers from npm; all run with `node <script>`. */
export const servers = {
  misbehaving: fixture('misbehaving'),
  httpMisbehaving: fixture('http-misbehaving'),
  httpProtected: fixture('http-protected'),
  modern: fixture('modern'),
  v1: fixture('v1'),
  storm: fixture('storm'),
  scripted: fixture('scripted'),
  prompts: fixture('prompts'),
  websocket: fixture('websocket'),
  notify: fileURLToPath(new URL('../../examples/mcp-notify-server.mjs', import.meta.url)),
  everything: binary('@modelcontextprotocol/server-everything'),
  filesystem: binary('@modelcontextprotocol/server-filesystem'),
  memory: binary('@modelcontextprotocol/server-memory'),
} as const

/** The script behind the only command of an installed package. */
function binary(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url)
  if (manifest === undefined) throw new Error(`${name} is not installed`)
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> }
  return path.join(path.dirname(manifest), Object.values(bin)[0] ?? '')
}

/** A request that an HTTP fixture received. */
export interface LoggedRequest {
  readonly at: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Parsed
}

/** A running HTTP fixture. */
export interface HttpFixture extends AsyncDisposable {
  /** The MCP endpoint. */
  readonly url: string
  readonly origin: string
  readonly pid: number
  readonly stderr: string
  /** Gives an order to the control endpoint and returns its answer; a refused order is thrown. */
  control(order: { readonly do: string; readonly [key: string]: unknown }): Promise<Parsed>
  /** The MCP requests received so far. */
  log(): Promise<LoggedRequest[]>
  /** The first logged request that the predicate accepts, past or future, also over an outage. */
  waitForLog(
    predicate: (request: LoggedRequest, index: number) => boolean,
    ms?: number,
  ): Promise<LoggedRequest>
  /** Resolves when the server has begun to listen this many times: 2 is the end of the first outage. */
  listened(times: number, ms?: number): Promise<void>
  close(): Promise<void>
}

/** Spawns an HTTP fixture on a free port and resolves when it listens. */
export async function startHttpFixture(
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<HttpFixture> {
  // The fixtures end when the pipe of their stdin does.
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...markedEnv(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const exited = exitOf(child)
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => (output[stream] += text))
  const ports = () => [...output.stdout.matchAll(/^listening (\d+)$/gm)].map(([, port]) => Number(port))

  const close = async () => {
    child.kill('SIGKILL')
    await exited
  }
  const early = exited.then(({ code, signal }) =>
    Promise.reject(new Error(`The fixture ended with ${signal ?? code}: ${output.stderr}`)),
  )
  early.catch(() => {})
  const listened = (times: number, ms = 10_000) =>
    within(
      Promise.race([waitUntil(() => ports().length >= times, ms), early]),
      ms + 100,
      () => `the fixture to listen; stderr: ${output.stderr}`,
    ).then(() => {})
  try {
    await listened(1)
  } catch (error) {
    await close()
    throw error
  }

  const origin = `http://127.0.0.1:${ports()[0]}`
  const log = async () => (await (await fetch(`${origin}/__log`)).json()) as LoggedRequest[]
  return {
    url: `${origin}/mcp`,
    origin,
    pid: child.pid ?? -1,
    get stderr() {
      return output.stderr
    },
    async control(order) {
      const response = await fetch(`${origin}/__control`, { method: 'POST', body: JSON.stringify(order) })
      const answer = await response.json()
      if (!response.ok)
        throw new Error(`The fixture refused ${JSON.stringify(order)}: ${JSON.stringify(answer)}`)
      return answer
    },
    log,
    async waitForLog(predicate, ms = 10_000) {
      let seen: LoggedRequest[] = []
      const look = async () => (seen = await log().catch(() => seen)).find(predicate)
      return waitUntil(
        look,
        ms,
        () =>
          `a request among ${JSON.stringify(seen.map(({ method, body }) => `${method} ${body?.method ?? ''}`))}`,
      )
    },
    listened,
    close,
    [Symbol.asyncDispose]: close,
  }
}
