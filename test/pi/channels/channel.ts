import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { textOf, type Parsed, type ReceivedRequest } from '../../drivers/chat.ts'
import type { Pi, UiHandler } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { PATIENCE_MS, type LogEntry, type Stage } from '../stage.ts'

const SERVER = fileURLToPath(new URL('../../fixtures/servers/channel.mjs', import.meta.url))
const EVENT = 'notifications/claude/channel'

/** A notification that a channel sends. */
export interface Notification {
  readonly method: string
  readonly params?: object
}

/** A channel server, over all its processes. */
export interface Channel {
  /** Its entry in mcp.json. */
  readonly entry: Readonly<Record<string, unknown>>
  /** The processes that run now, once there are so many. */
  running(count?: number): Promise<readonly number[]>
  /** Sends from every process, all in one write. */
  send(...notifications: readonly Notification[]): Promise<void>
  /** Sends from one process alone. */
  sendFrom(pid: number, ...notifications: readonly Notification[]): Promise<void>
  /** What it has received, of this method. */
  received(method: string): readonly Parsed[]
  /** The first thing of this method that it receives, past or future. */
  waitFor(method: string, accepts?: (params: Parsed) => boolean): Promise<Parsed>
}

/** A channel on this stage. */
export function channelOn(
  stage: Stage,
  flags: readonly string[] = [],
  entry: Readonly<Record<string, unknown>> = {},
  name = 'chat',
): Channel {
  const directory = path.join(stage.scratch.root, `channel-${name}`)
  const log = path.join(directory, 'log.jsonl')
  const portOf = (file: string) => readFileSync(path.join(directory, file), 'utf8')
  const ports = () =>
    (existsSync(directory) ? readdirSync(directory) : []).filter(
      (file) => file.endsWith('.port') && portOf(file) !== '' && isAlive(Number.parseInt(file)),
    )
  const post = async (port: string, notifications: readonly Notification[]) => {
    await fetch(`http://127.0.0.1:${portOf(port)}/`, { method: 'POST', body: JSON.stringify(notifications) })
  }
  const received = (method: string): readonly Parsed[] =>
    (existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [])
      .filter(Boolean)
      .map((line) => JSON.parse(line) as LogEntry)
      .flatMap(({ message }) => (message?.method === method ? [message.params] : []))
  return {
    entry: {
      command: process.execPath,
      args: [SERVER, '--dir', directory, ...flags],
      channel: true,
      exposure: 'direct',
      ...entry,
    },
    running: (count = 1) =>
      waitUntil(
        () => (ports().length >= count ? ports().map((file) => Number.parseInt(file)) : undefined),
        PATIENCE_MS,
        () => `${count} processes of the channel`,
      ),
    async send(...notifications) {
      for (const port of ports()) await post(port, notifications)
    },
    sendFrom: (pid, ...notifications) => post(`${pid}.port`, notifications),
    received,
    waitFor: (method, accepts = () => true) =>
      waitUntil(
        () => received(method).find((params) => accepts(params)),
        PATIENCE_MS,
        () => `${method} at the channel; it received ${JSON.stringify(received(method))}`,
      ),
  }
}

/** An event as channels of chat services send it. */
export function event(content: string, meta: Readonly<Record<string, unknown>> = {}): Notification {
  return { method: EVENT, params: { content, meta: { chat_id: '42', user: 'alice', ...meta } } }
}

/** Answers the question about channels, and nothing else. */
export function consenting(choice: string): UiHandler {
  return ({ method, title, options }) =>
    method === 'select' && title?.includes('speak in this conversation') && options?.includes(choice)
      ? choice
      : undefined
}

export const SPEAK = 'Let it speak'
export const SPEAK_AND_APPROVE = 'Let it speak, and approve tool calls for me'
export const NO = 'No: to the inbox with what it sends'

/** The findings in the inbox. */
export function inboxOf(stage: Stage): readonly string[] {
  const file = path.join(stage.scratch.agent, 'loops/inbox.jsonl')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => String(JSON.parse(line).text))
}

/** Waits until there are so many findings in the inbox. */
export async function inboxHolds(stage: Stage, count: number): Promise<readonly string[]> {
  const enough = () => (inboxOf(stage).length >= count ? inboxOf(stage) : undefined)
  return waitUntil(enough, PATIENCE_MS, () => `${count} findings in the inbox: ${inboxOf(stage).join(' | ')}`)
}

/** Resolves when the answer about a channel is saved. */
export async function consented(stage: Stage, name = 'chat'): Promise<void> {
  await waitUntil(
    () => consentsOf(stage)?.servers?.[name] !== undefined,
    PATIENCE_MS,
    () => `the saved answer about ${name}`,
  )
}

/** What channels.json says. */
export function consentsOf(stage: Stage): Parsed {
  const file = path.join(stage.scratch.agent, 'tapline/channels.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** The channel tags that the model is shown in a request, in order. */
export function tagsIn({ body }: ReceivedRequest): readonly string[] {
  return body.messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => textOf(content).match(/<channel [^>]*>[^<]*<\/channel>/g) ?? [])
}

/** The system prompt of a request. */
export function promptOf({ body }: ReceivedRequest): string {
  return body.messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => textOf(content))
    .join('\n')
}

/** Waits until pi has asked the model so often and has nothing to do. */
export async function settled(stage: Stage, pi: Pi, requests: number): Promise<readonly ReceivedRequest[]> {
  await waitUntil(
    async () => stage.model.requests().length >= requests && !(await pi.send('get_state')).data.isStreaming,
    PATIENCE_MS,
    () => `${requests} requests; ${stage.model.requests().length} came`,
  )
  return stage.model.requests()
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
