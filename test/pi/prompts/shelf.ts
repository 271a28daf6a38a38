import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type ReceivedRequest, textOf } from '../../drivers/chat.ts'
import { servers } from '../../drivers/fixtures.ts'
import type { Pi } from '../../drivers/pi.ts'
import { waitUntil } from '../../drivers/processes.ts'
import { PATIENCE_MS, type Stage } from '../stage.ts'

/** What a server of prompts answers; see the fixture. */
export interface Shelf {
  readonly prompts?: unknown
  readonly get?: Readonly<Record<string, object>>
  readonly complete?: Readonly<Record<string, unknown>>
  readonly capabilities?: object
  readonly pageSize?: number
  readonly spelling?: string
}

/** A prompt with these arguments; a `?` behind a name makes it optional. */
export function prompt(name: string, ...args: readonly string[]) {
  return {
    name,
    description: `About ${name}.`,
    arguments: args.map((arg) => ({
      name: arg.replace(/\?$/, ''),
      description: `What ${arg} is.`,
      required: !arg.endsWith('?'),
    })),
  }
}

/** Writes what the server of this name answers, now or from now on, and returns its entry. */
export function shelve({ scratch }: Pick<Stage, 'scratch'>, name: string, shelf: Shelf) {
  const file = scratch.write(`${name}.json`, shelf)
  return {
    command: process.execPath,
    args: [servers.prompts, file, path.join(scratch.root, `${name}.jsonl`)],
  }
}

/** The commands of prompts that pi has, with their descriptions. */
export async function commandsOf(pi: Pi): Promise<Record<string, string>> {
  const { data } = await pi.send('get_commands')
  const commands = data.commands as { name: string; description?: string }[]
  return Object.fromEntries(
    commands.flatMap(({ name, description = '' }) => (name.startsWith('mcp:') ? [[name, description]] : [])),
  )
}

/** Waits until pi has exactly these commands of prompts. */
export async function offers(pi: Pi, expected: Readonly<Record<string, string>>): Promise<void> {
  let seen: Record<string, string> = {}
  await waitUntil(
    async () => isDeepStrictEqual((seen = await commandsOf(pi)), expected),
    PATIENCE_MS,
    () => `${JSON.stringify(expected)}, not ${JSON.stringify(seen)}; stderr: ${pi.stderr}`,
  )
}

/** Runs a command that starts a run, and returns the one request that came of it. */
export async function runs({ model }: Stage, pi: Pi, line: string): Promise<ReceivedRequest> {
  const [before, from] = [model.requests().length, pi.events.length]
  await pi.send('prompt', { message: line })
  await pi.waitFor(({ type }) => type === 'agent_settled', PATIENCE_MS, from)
  const requests = model.requests().slice(before)
  if (requests.length !== 1) throw new Error(`${requests.length} requests came of ${line}`)
  return requests[0]!
}

/** The person's last message, as the model got it. */
export function lastUserText(request: ReceivedRequest): string {
  return textOf(request.body.messages.findLast(({ role }) => role === 'user')?.content)
}

/** Waits until the prompts of these servers are commands. */
export async function listed(pi: Pi, ...names: readonly string[]): Promise<void> {
  const look = async () => {
    const commands = Object.keys(await commandsOf(pi))
    return names.every((name) => commands.some((command) => command.startsWith(`mcp:${name}:`)))
  }
  await waitUntil(look, PATIENCE_MS, () => `the prompts of ${names.join()}; stderr: ${pi.stderr}`)
}
