import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import { cleanText, type ContentBlock, isTaplineError } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import {
  getPrompt,
  PREFIX,
  type Prompt,
  type PromptCommand,
  readArguments,
  splitCommand,
  usageOf,
} from '@tapline/prompts'
import { UNRELAYED } from '../approvals.ts'
import type { PromptLists } from './lists.ts'
import { messageFrom, type PromptMessage } from './message.ts'
import { whileWaiting } from './waiting.ts'

/** A server that is still connecting is waited for this long, in milliseconds. */
const LONGEST_WAIT_MS = 30_000
const MOST_NAMES = 10
/** Leaves a question before it is answered. */
const LEAVE = 'Not now'

/** What a prompt is run with. */
export interface PromptRun {
  /** The command: `mcp:<server>:<prompt>`. */
  readonly name: string
  /** What was typed behind it. */
  readonly text: string
  readonly tapline: Tapline
  readonly lists: PromptLists
  readonly ctx: Pick<ExtensionContext, 'hasUI' | 'mode' | 'ui' | 'signal'>
  /** The home directory. */
  readonly home: string
  /** Aborts when the session ends. */
  readonly ended: AbortSignal
  /** Whether the model can read this server's resources. */
  readsResources(server: Server): boolean
}

/** The person left a question, or pressed Escape. */
export class Cancelled extends Error {}

/** The message that a command makes. Rejects with {@link Cancelled}, or with what the person should know. */
export async function runPrompt(run: PromptRun): Promise<PromptMessage> {
  const { lists, ctx, home, ended } = run
  const server = serverOf(run)
  const { prompt } = await commandOf(run, server)
  const values = await valuesOf(run, server, prompt)
  const what = `Waiting for prompt "${prompt.name}" of MCP server "${server.spec.name}"`
  return whileWaiting(ctx, what, ended, async (signal) => {
    const get = async (): Promise<readonly ContentBlock[]> => {
      await reach(server, signal)
      return getPrompt(lists.sourceOf(server), prompt, values, signal)
    }
    // Asking changes nothing: where the connection broke meanwhile, it is asked for once more.
    const content = await get().catch((thrown: unknown) => {
      if (isTaplineError(thrown) && thrown.code === 'CONNECTION_CLOSED') return get()
      throw thrown
    })
    const readsResources = run.readsResources(server)
    return messageFrom(content, { server, prompt: prompt.name, home, readsResources })
  })
}

function serverOf({ name, tapline }: PromptRun): Server {
  const wanted = splitCommand(name)?.server ?? ''
  const server = tapline.server(wanted)
  if (!server) throw new Error(`No MCP server is named "${cleanText(wanted, 100)}".`)
  if (!server.spec.enabled) throw new Error(`MCP server "${server.spec.name}" is disabled.`)
  return server
}

/** A prompt that is not known yet, or no longer, is looked for in what the server offers now. */
async function commandOf({ name, lists, ctx, ended }: PromptRun, server: Server): Promise<PromptCommand> {
  const { book } = lists
  const shown = server.spec.name
  // The server may be named by another spelling: `-` and `_` count as the same.
  const own = `${PREFIX}${shown}:${splitCommand(name)?.prompt ?? ''}`
  const known = book.command(own)
  if (known) return known
  await whileWaiting(ctx, `Waiting for MCP server "${shown}"`, ended, async (signal) => {
    await reach(server, signal)
    await unlessAborted(lists.known(server), signal)
  })
  const found = book.command(own)
  if (found) return found
  const names = book.commandsOf(shown).map((offered) => `/${offered.name}`)
  if (names.length === 0) throw new Error(`MCP server "${shown}" offers no prompts.`)
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : ''
  throw new Error(
    `MCP server "${shown}" has no prompt of that name. It has ${names.slice(0, MOST_NAMES).join(', ')}${more}.`,
  )
}

/** Connects a server that is not, within bounds: whoever is still starting is waited for. */
async function reach(server: Server, signal: AbortSignal): Promise<void> {
  const { session, spec } = server
  if (session.status.state === 'connected') return
  const patience = AbortSignal.timeout(LONGEST_WAIT_MS)
  try {
    await session.ready(AbortSignal.any([signal, patience]))
  } catch (thrown) {
    if (patience.aborted && !signal.aborted)
      throw new Error(
        `MCP server "${spec.name}" is still connecting after ${LONGEST_WAIT_MS / 1_000} s. Try again when /mcp shows it connected.`,
        { cause: thrown },
      )
    throw thrown
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Cancelled())
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** The arguments as they were typed; the person is asked for those that are required and missing. */
async function valuesOf(
  { name, text, ctx, ended }: PromptRun,
  { spec }: Server,
  prompt: Prompt,
): Promise<ReadonlyMap<string, string>> {
  const { values, missing, surplus } = readArguments(prompt, text)
  const usage = `Usage: /${name} ${usageOf(prompt)}`.trimEnd()
  const wrong = (problem: string): Error => new Error(`${problem} ${usage}`)
  if (surplus !== undefined)
    throw wrong(
      prompt.arguments.length === 0
        ? `It takes no arguments, and "${cleanText(surplus, 60)}" was typed behind it.`
        : `No argument is left for "${cleanText(surplus, 60)}"; a value with spaces stands in quotes.`,
    )
  if (missing.length > 0 && !ctx.hasUI) throw wrong(`It needs ${missing.map(shownName).join(', ')}.`)
  const all = new Map(values)
  if (missing.length === 0) return all
  const { inputIn, theirs } = await import('../dialogs/index.ts')
  for (const argument of missing) {
    const about = cleanText(argument.description ?? '', 300)
    const whose = `The MCP server "${spec.name}" needs a value:`
    const what = `${shownName(argument)} for prompt ${shownName(prompt)}`
    const options = { ...UNRELAYED, signal: ended }
    const said = { lines: [whose, ...theirs(what), ...theirs(about)], leave: LEAVE }
    const answer = await inputIn(ctx, said, undefined, options)
    if (answer === undefined) throw new Cancelled()
    if (answer === '') throw wrong(`It needs ${shownName(argument)}.`)
    all.set(argument.name, answer)
  }
  return all
}

function shownName({ name }: { readonly name: string }): string {
  return `"${cleanText(name, 60)}"`
}
