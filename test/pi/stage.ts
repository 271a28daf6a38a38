import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { textOf, type ChatMessage, type Parsed, type ReceivedRequest } from '../drivers/chat.ts'
import { startFakeModel, type FakeModel } from '../drivers/fake-model.ts'
import { servers } from '../drivers/fixtures.ts'
import { startPi, type Pi, type RpcOptions } from '../drivers/pi.ts'
import { waitUntil } from '../drivers/processes.ts'
import { createScratch, type Scratch, type ScratchOptions } from '../drivers/scratch.ts'

const PRESET = new URL('../../presets/pi/', import.meta.url)
const { pi: manifest } = JSON.parse(readFileSync(new URL('package.json', PRESET), 'utf8')) as {
  pi: { extensions: [string] }
}

/** The extension as this checkout has it. */
export const TAPLINE = fileURLToPath(new URL(manifest.extensions[0], PRESET))

/** A slow machine may take this long for what takes a moment on others. */
export const PATIENCE_MS = 40_000

/** A line of the log that fixture servers write with `--log`. */
export interface LogEntry {
  readonly pid: number
  readonly at: number
  readonly event?: string
  readonly id?: string | number
  readonly message?: Parsed
}

/** The log of a fixture server: every message that it received, over all its processes. */
export interface ServerLog {
  readonly path: string
  entries(): LogEntry[]
  /** How often a method was asked for. */
  count(method: string): number
  /** The processes that wrote to it. */
  pids(): number[]
  waitFor(predicate: (entry: LogEntry) => boolean, ms?: number): Promise<LogEntry>
}

/** A model, a scratch directory and any number of pis with Tapline in it. */
export interface Stage extends AsyncDisposable {
  readonly model: FakeModel
  readonly scratch: Scratch
  /** Writes the user's mcp.json. */
  json(servers: Readonly<Record<string, object>>): void
  /** Writes the user's mcp.toml. */
  toml(servers: Readonly<Record<string, object>>): void
  log(name: string): ServerLog
  /** Writes another extension and returns its path; `body` is what it does with `pi`. */
  extension(name: string, body: string): string
  /** Starts a pi with Tapline and these other extensions; it ends with the stage. */
  start(options?: StartOptions): Promise<Pi>
}

/** Options of {@link Stage.start}. */
export interface StartOptions extends RpcOptions {
  /** Paths of extensions; Tapline alone when absent. */
  readonly extensions?: readonly string[]
}

/** A stage; its pis share a warm loader cache unless `tmp` says otherwise. */
export async function createStage(options: ScratchOptions = { tmp: 'shared' }): Promise<Stage> {
  const model = await startFakeModel()
  const scratch = createScratch(options)
  const pis: Pi[] = []
  return {
    model,
    scratch,
    json: (entries) => void scratch.write('agent/mcp.json', { mcpServers: entries }),
    toml: (entries) => void scratch.write('agent/loops/mcp.toml', tomlOf(entries)),
    log: (name) => serverLog(path.join(scratch.root, `${name}.jsonl`)),
    extension: (name, body) =>
      scratch.write(`extensions/${name}.ts`, `export default (pi) => {\n${body}\n}\n`),
    async start({ extensions = [TAPLINE], args = [], ...rest } = {}) {
      const pi = await startPi({
        scratch,
        model,
        ...rest,
        args: [...extensions.flatMap((file) => ['-e', file]), ...args],
      })
      pis.push(pi)
      return pi
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(pis.map((pi) => pi.close()))
      await model.close()
      await scratch.dispose()
    },
  }
}

/** An entry that runs the misbehaving server, for either file. */
export function misbehaving(...flags: readonly string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [servers.misbehaving, ...flags] }
}

/** The same server, but it starts when the file `gate` exists. */
export function gated(gate: string, { command, args }: { command: string; args: string[] }) {
  const script = 'while [ ! -e "$1" ]; do sleep 0.05; done; shift; exec "$@"'
  return { command: '/bin/sh', args: ['-c', script, 'gated', gate, command, ...args] }
}

/** `mcp.toml` with these servers. */
export function tomlOf(entries: Readonly<Record<string, object>>): string {
  const table = (entry: object) => Object.entries(entry).map(([key, value]) => `${key} = ${tomlValue(value)}`)
  return Object.entries(entries)
    .map(([name, entry]) => ['[[server]]', `name = "${name}"`, ...table(entry), ''].join('\n'))
    .join('\n')
}

function tomlValue(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)} = ${tomlValue(inner)}`)
  return `{ ${pairs.join(', ')} }`
}

function serverLog(file: string): ServerLog {
  const entries = (): LogEntry[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as LogEntry)
      : []
  return {
    path: file,
    entries,
    count: (method) => entries().filter(({ message }) => message?.method === method).length,
    pids: () => [...new Set(entries().map(({ pid }) => pid))],
    waitFor: (predicate, ms = PATIENCE_MS) =>
      waitUntil(
        () => entries().find(predicate),
        ms,
        () => `an entry of ${file}`,
      ),
  }
}

/** Waits until `/mcp` prints a line that matches each of these, and returns what it prints. */
export async function serversShow(pi: Pi, ...lines: readonly RegExp[]): Promise<string> {
  let shown = ''
  const look = async () => {
    shown = (await pi.command('/mcp')).find((notice) => /^(MCP servers|No MCP)/.test(notice)) ?? ''
    return lines.every((line) => line.test(shown)) ? shown : undefined
  }
  return waitUntil(look, PATIENCE_MS, () => `${lines.join(' and ')} in ${shown}; stderr: ${pi.stderr}`)
}

/** What the person was told unasked: every notice but the answers of `/mcp` and `/triggers`. */
export function said(pi: Pi): string[] {
  return pi.notices().filter((notice) => !ANSWER.test(notice))
}

const ANSWER = /^(?:MCP servers|Trigger sources) \(|^No MCP servers are configured/

/** The first notice of that kind that matches, past or future. */
export async function noticed(pi: Pi, match: RegExp): Promise<string> {
  const find = () => said(pi).find((notice) => match.test(notice))
  return waitUntil(find, PATIENCE_MS, () => `${match} among ${JSON.stringify(said(pi))}`)
}

/** Waits until each server is connected and has its tools. */
export async function connected(pi: Pi, ...names: readonly string[]): Promise<string> {
  return serversShow(pi, ...names.map((name) => new RegExp(`^ *${name}: connected · [1-9]`, 'm')))
}

/** What the tool that the model called last answered, as the model was told. */
export function toolAnswer(request: ReceivedRequest): string {
  return textOf(toolMessages(request).at(-1)?.content)
}

/** What tools answered in this request. */
export function toolMessages({ body }: ReceivedRequest): ChatMessage[] {
  return body.messages.filter(({ role }) => role === 'tool')
}

/** Has the model call one tool, and returns the request that carries its answer. */
export async function callTool(
  stage: Stage,
  pi: Pi,
  name: string,
  args: object = {},
): Promise<ReceivedRequest> {
  stage.model.script([{ toolCalls: [{ name, args }] }])
  await pi.prompt('Please go on.')
  return stage.model.requests().at(-1)!
}
