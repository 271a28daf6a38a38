import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Frame } from '@tapline/core'
import type { Settings } from '../src/settings.ts'
import { settingsOf } from '../src/settings.ts'
import { StdioTransport } from '../src/transport.ts'

/** The path of one of the test servers. */
export const serverFile = (name: string): string => fileURLToPath(new URL(`servers/${name}`, import.meta.url))

/** Stands in for core's error class. */
export interface CodedError extends Error {
  readonly code: string
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly advice: string | undefined
}

/** What the session would give a transport besides the entry. */
export const asked = (signal = new AbortController().signal) => ({
  signal,
  error: (
    code: string,
    message: string,
    details?: { readonly data?: Readonly<Record<string, unknown>>; readonly advice?: string },
  ): CodedError => Object.assign(new Error(message), { code, data: details?.data, advice: details?.advice }),
})

/** Short steps, so that stubborn servers do not make slow tests. */
const QUICK: Partial<Settings> = { endGraceMs: 150, termGraceMs: 150, killGraceMs: 5_000 }

/** A transport, not started. */
export function transportFor(
  command: string,
  args: readonly string[],
  settings: Partial<Settings> = QUICK,
  rest: { readonly env?: Record<string, string>; readonly cwd?: string; readonly signal?: AbortSignal } = {},
): StdioTransport {
  const launch = {
    command,
    args,
    cwd: rest.cwd ?? process.cwd(),
    env: rest.env ?? (process.env as Record<string, string>),
  }
  const options = settingsOf({ ...settings }, (message) => {
    throw new Error(message)
  })
  return new StdioTransport(launch, asked(rest.signal), options)
}

/** `family.sh` in one of its modes. */
export const familyOf = (mode: string, settings?: Partial<Settings>): StdioTransport =>
  transportFor('/bin/sh', [serverFile('family.sh'), mode], settings)

/** Starts and waits for the first frame. */
export async function ready(transport: StdioTransport): Promise<void> {
  const first = new Promise<void>((resolve) => (transport.onmessage = () => resolve()))
  await transport.start()
  await first
}

/** A started `echo.mjs` and a way to ask it. */
export class Echo {
  readonly transport: StdioTransport
  readonly frames: Frame[] = []
  readonly errors: Error[] = []
  readonly closed: Promise<void>
  closes = 0
  #id = 0
  readonly #waiting = new Map<number, (result: unknown) => void>()

  constructor(settings?: Partial<Settings>, rest?: Parameters<typeof transportFor>[3]) {
    this.transport = transportFor(process.execPath, [serverFile('echo.mjs')], settings, rest)
    this.transport.onmessage = (frame) => {
      this.frames.push(frame)
      this.#waiting.get(frame.id as number)?.(frame.result)
    }
    this.transport.onerror = (error) => this.errors.push(error)
    this.closed = new Promise((resolve) => {
      this.transport.onclose = () => {
        this.closes++
        resolve()
      }
    })
  }

  async ask(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    const id = ++this.#id
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve))
    await this.transport.send({ jsonrpc: '2.0', id, method, params })
    return answer
  }

  tell(method: string, params: Record<string, unknown> = {}): Promise<void> {
    return this.transport.send({ jsonrpc: '2.0', method, params })
  }
}

/** One process of /proc. */
interface ProcessEntry {
  readonly pid: number
  readonly state: string
  readonly group: number
  readonly session: number
}

/** What /proc knows of a process; undefined when there is none. */
export function processEntry(pid: number | string): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid: Number(pid), state, group: Number(group), session: Number(session) }
  } catch {
    return undefined
  }
}

const everyPid = (): string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name))

/** The processes with exactly this command line, its parts ended by NUL. */
export function processesOf(commandLine: string): number[] {
  const holds = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === commandLine
    } catch {
      return false
    }
  }
  return everyPid().filter(holds).map(Number)
}

/** Living processes of a group. A zombie has ended; only its parent has not looked yet. */
export function survivors(group: number): number[] {
  return everyPid()
    .map((name) => processEntry(name))
    .filter((entry) => entry?.group === group && entry.state !== 'Z')
    .map((entry) => entry!.pid)
}

/** Whether a process lives. */
export const lives = (pid: number): boolean => !['Z', undefined].includes(processEntry(pid)?.state)

/** Waits until `holds`, for things that tell nobody when they happen. */
export async function eventually(what: string, holds: () => boolean, milliseconds = 20_000): Promise<void> {
  const deadline = performance.now() + milliseconds
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`did not happen in ${milliseconds} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
