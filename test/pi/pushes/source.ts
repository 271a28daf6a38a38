import { textOf, type ReceivedRequest } from '../../drivers/chat.ts'
import { servers, startHttpFixture, type HttpFixture } from '../../drivers/fixtures.ts'
import type { Pi, PiEvent } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { PATIENCE_MS } from '../stage.ts'

/** A server that pushes when the test says so. */
export interface PushSource extends HttpFixture {
  /** Resolves when somebody listens to its pushes; they reach nobody before that. */
  heard(): Promise<void>
  /** Pushes a custom notification with this key, which is its summary too. */
  push(key: string): Promise<void>
  /** The same, with all of them in one write. */
  pushTogether(keys: readonly string[]): Promise<void>
  /** Pushes any notification. */
  notify(method: string, params?: object): Promise<void>
}

const METHOD = 'notifications/demo/event'
const paramsFor = (key: string) => ({ _meta: { pi_dedup_key: key, pi_summary: `<${key}>` } })

/** Starts a push source over HTTP. */
export async function startSource(): Promise<PushSource> {
  const http = await startHttpFixture(servers.httpMisbehaving)
  const notify = async (method: string, params: object = {}) => {
    const { streams } = await http.control({ do: 'push', message: { method, params } })
    if (streams === 0) throw new Error(`Nobody heard ${method}`)
  }
  return Object.assign(http, {
    heard: async () => {
      const listening = async () => (await http.control({ do: 'status' })).streams > 0
      await waitUntil(listening, PATIENCE_MS, 'somebody to listen to the pushes')
    },
    push: (key: string) => notify(METHOD, paramsFor(key)),
    async pushTogether(keys: readonly string[]) {
      const frames = keys.map((key) =>
        JSON.stringify({ jsonrpc: '2.0', method: METHOD, params: paramsFor(key) }),
      )
      await http.control({ do: 'raw', text: frames.map((frame) => `data: ${frame}\n\n`).join('') })
    },
    notify,
  })
}

/** The keys of the pushes that are in the chat, in its order. */
export function keysInChat(pi: Pi): string[] {
  return pi.events.filter(isPush).flatMap(({ message }) => keysIn(String(message.content)))
}

/** Waits until so many pushes are in the chat. */
export async function chatHolds(pi: Pi, count: number): Promise<string[]> {
  const enough = () => (keysInChat(pi).length >= count ? keysInChat(pi) : undefined)
  return waitUntil(enough, PATIENCE_MS, () => `${count} pushes in the chat: ${keysInChat(pi).join(' ')}`)
}

/** Whether an event is a push that has arrived in the chat. */
export function isPush({ type, message }: PiEvent): boolean {
  return type === 'message_end' && message?.customType === 'tapline:push'
}

/** The keys of the pushes that the model is told of in a request, in its order and as often as it is told. */
export function keysTold({ body }: ReceivedRequest): string[] {
  return body.messages.filter(({ role }) => role === 'user').flatMap(({ content }) => keysIn(textOf(content)))
}

/** Summaries are `<key>`; what starts a turn has it escaped. */
function keysIn(text: string): string[] {
  return [...text.matchAll(/notifications\/demo\/event (?:<|&lt;)([\w-]+)(?:>|&gt;)/g)].map(
    ([, key = '']) => key,
  )
}

/** The books of one server as `/triggers sources` prints them. */
export async function booksOf(pi: Pi, server: string): Promise<Readonly<Record<string, number>>> {
  const counts = /received=.*/.exec(await sourceOf(pi, server))?.[0] ?? ''
  return Object.fromEntries(
    [...counts.matchAll(/(\w+)=(\d+)/g)].map(([, name = '', count]) => [name, Number(count)]),
  )
}

/** Waits until the books of a server say so. */
export async function booksSay(pi: Pi, server: string, count: string, value: number): Promise<void> {
  const look = async () => (await booksOf(pi, server))[count] === value
  await waitUntil(look, PATIENCE_MS, () => `${count}=${value} in the books of ${server}`)
}

/** Whether pi has nothing to do, not even a prompt that it has yet to send. */
export async function isIdle(pi: Pi): Promise<boolean> {
  return !(await pi.send('get_state')).data.isStreaming
}

/** What `/triggers sources` prints of one server. */
export async function sourceOf(pi: Pi, server: string): Promise<string> {
  const shown =
    (await pi.command('/triggers sources')).find((notice) => notice.startsWith('Trigger sources')) ?? ''
  const block = shown.split(/^ {2}- /m).find((lines) => lines.includes(`mcp:${server} `))
  if (block === undefined) throw new Error(`/triggers sources does not show ${server}: ${shown}`)
  return block
}
