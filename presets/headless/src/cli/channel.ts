import { declaresChannel, declaresPermission, EVENT_METHOD, frameChannel, optsIn } from '@tapline/channels'
import { cleanLines, cleanText, cut, isTaplineError, messageOf } from '@tapline/core'
import type { Drop, Notice, Plugin, RawNotification, ServerTool, Trigger } from '@tapline/core'
import type { Server } from '../host/server.ts'
import type { Tapline } from '../host/tapline.ts'
import { serverFor } from './call.ts'
import { openTapline } from './command.ts'
import { atInterrupt } from './interrupts.ts'
import type { CommandContext } from './command.ts'
import { type Arguments, argumentsFor, readArguments } from './reply-arguments.ts'

const USAGE = 'Usage: tapline channel test <server> [--for SECONDS] [--reply TOOL [json]]'
const USUAL_SECONDS = 60
const LOOK_EVERY_MS = 100
const LONGEST_INSTRUCTIONS = 2_000
const LONGEST_NAME = 64
const INTERRUPTED = 130

/** What one step found. */
interface Step {
  readonly step: string
  /** Absent: a fact, neither good nor bad. */
  readonly ok?: boolean
  readonly text: string
  /** Shown below, exactly as it is. */
  readonly whole?: string
  /** For `--json`, beside the text. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** An event as it came, and what it was mapped to. */
interface Heard {
  readonly raw: RawNotification
  readonly notice: Trigger | Drop
}

/** `tapline channel test <server>`: one event there and back, each step printed. Exit 1 when a step fails, 2 when there is no connection. */
export async function channel(context: CommandContext): Promise<number> {
  const [action, name, json] = context.args
  if (action !== 'test' || name === undefined) return fail(USAGE)
  if (json !== undefined && context.reply === undefined) return fail(USAGE)
  const given = json === undefined ? undefined : readArguments(json)
  if (typeof given === 'string') return fail(given)
  const say = (step: Step): void => print(step, context.json)
  const heard: Heard[] = []
  const tapline = await openTapline(context, 'watch', { attempts: 1, plugins: [listener(heard)] })
  const interrupt = new AbortController()
  const stopListening = atInterrupt(() => interrupt.abort())
  try {
    const server = serverFor(tapline, name)
    await server.settled(interrupt.signal)
    if (interrupt.signal.aborted) return INTERRUPTED
    if (!sayConnected(server, say)) return 2
    if (!sayDeclared(server, tapline, say)) return 1
    const trigger = await firstEvent(
      server,
      heard,
      context.forSeconds ?? USUAL_SECONDS,
      interrupt.signal,
      say,
    )
    if (interrupt.signal.aborted) return INTERRUPTED
    if (!trigger) return 1
    if (context.reply === undefined) return 0
    return (await answer(server, tapline, trigger, context.reply, given, interrupt.signal, say)) ? 0 : 1
  } catch (thrown) {
    const code = fail(isTaplineError(thrown) ? thrown.toString() : messageOf(thrown))
    return interrupt.signal.aborted ? INTERRUPTED : code
  } finally {
    stopListening()
    await tapline.close()
  }
}

/** Keeps what is sent as an event, before and after it is mapped. */
function listener(heard: Heard[]): Plugin {
  let raw: RawNotification | undefined
  return {
    name: 'channel-test',
    api: 1,
    setup({ hooks }) {
      hooks.notify.tap({ stage: 'early' }, (notice: Notice) => {
        raw = notice.kind === 'raw' && notice.method === EVENT_METHOD ? notice : undefined
        return undefined
      })
      hooks.notify.tap({ stage: 'host' }, (notice: Notice) => {
        if (raw && (notice.kind === 'trigger' || notice.kind === 'drop')) heard.push({ raw, notice })
        return undefined
      })
    },
  }
}

function sayConnected({ session, spec }: Server, say: (step: Step) => void): boolean {
  const { state, reason, attention, protocolVersion, serverInfo } = session.status
  const ok = state === 'connected'
  const about = serverInfo
    ? `, "${cleanText(serverInfo.name, 100)}" ${cleanText(serverInfo.version, 50)}`
    : ''
  const text = ok
    ? `over ${spec.transport.type}, protocol ${protocolVersion ?? 'unknown'}${about}`
    : [reason ?? state, attention].filter(Boolean).join('\n')
  say({ step: 'connected', ok, text, data: { protocolVersion, serverInfo } })
  return ok
}

function sayDeclared({ session, spec }: Server, tapline: Tapline, say: (step: Step) => void): boolean {
  const { capabilities, instructions } = session.status
  const ok = declaresChannel(capabilities)
  say({
    step: 'channel',
    ok,
    text: ok
      ? 'declares experimental "claude/channel"'
      : 'does not declare "experimental": { "claude/channel": {} } in its capabilities: it is no channel',
  })
  if (!ok) return false
  const permission = declaresPermission(capabilities)
  say({
    step: 'permission',
    text: permission
      ? 'declares "claude/channel/permission": it can be asked about tool calls'
      : 'does not declare "claude/channel/permission": it is not asked about tool calls',
    data: { declared: permission },
  })
  const shown = cut(cleanLines(instructions ?? '').trim(), LONGEST_INSTRUCTIONS)
  say({ step: 'instructions', text: shown || 'none: nothing tells the model what its messages mean' })
  const tools = tapline.catalogue.listingOf(spec.name)?.tools ?? []
  say({
    step: 'tools',
    text: namesOf(tools) || 'none: it cannot be answered',
    data: { tools: tools.map(({ name }) => name) },
  })
  say({
    step: 'opt-in',
    text: !optsIn(spec)
      ? 'its entry does not say channel = true: in pi, what it sends goes to the inbox'
      : `${spec.channel ? 'its entry says channel = true' : 'a policy of yours names the sink "channel"'}: pi asks once whether it may speak`,
    data: { channel: optsIn(spec) },
  })
  return true
}

async function firstEvent(
  { session }: Server,
  heard: Heard[],
  seconds: number,
  signal: AbortSignal,
  say: (step: Step) => void,
): Promise<Trigger | undefined> {
  say({ step: 'waiting', text: `for an event, ${seconds} s: send one now` })
  const deadline = performance.now() + seconds * 1_000
  while (performance.now() < deadline && !signal.aborted) {
    const next = heard.shift()
    if (next?.notice.kind === 'drop') {
      say({ step: 'event', ok: false, text: next.notice.error ?? next.notice.reason })
    } else if (next) {
      sayEvent(next.raw, next.notice, say)
      return next.notice
    } else if (session.status.state !== 'connected') {
      say({ step: 'event', ok: false, text: `the connection ended: ${session.status.reason ?? 'unknown'}` })
      return undefined
    } else await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  if (!signal.aborted) say({ step: 'event', ok: false, text: `none came within ${seconds} s` })
  return undefined
}

function sayEvent({ params }: RawNotification, trigger: Trigger, say: (step: Step) => void): void {
  const { key, attributes = {} } = trigger
  const text = 'as the model reads it, where it may speak:'
  say({ step: 'event', ok: true, text, whole: frameChannel(trigger), data: { key, attributes } })
  const sent = Object.keys((params?.meta as object | null | undefined) ?? {})
  const left = sent
    .filter((name) => !Object.hasOwn(attributes, name))
    .map((name) => cleanText(name, LONGEST_NAME))
  if (left.length > 0) {
    const text = `left out of meta: ${left.slice(0, 20).join(', ')} (names are letters, digits and underscores, values texts; "source" is the configured name)`
    say({ step: 'meta', text, data: { leftOut: left } })
  }
  if (key.includes(':hash:')) {
    const text =
      'it has no message_id, and no chat_id with ts: two equal ones within five minutes count as one'
    say({ step: 'key', text })
  }
}

async function answer(
  { session, spec }: Server,
  tapline: Tapline,
  trigger: Trigger,
  toolName: string,
  given: Arguments | undefined,
  signal: AbortSignal,
  say: (step: Step) => void,
): Promise<boolean> {
  const tools = tapline.catalogue.listingOf(spec.name)?.tools ?? []
  const tool = tools.find(({ name }) => name === toolName)
  if (!tool) {
    const text = `it has no tool "${toolName}"; it has: ${namesOf(tools) || 'none'}`
    say({ step: 'reply', ok: false, text })
    return false
  }
  const args = given ?? argumentsFor(tool, trigger)
  const result = await session.callTool(toolName, args, { tool, signal })
  const said = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [`[${block.type}]`]))
  say({
    step: 'reply',
    ok: result.isError !== true,
    text: `${toolName} ${JSON.stringify(args)}: ${cleanLines(said.join('\n'))}`,
    data: { arguments: args, result },
  })
  return result.isError !== true
}

/** As the server names them, clean: they are printed in a terminal. */
function namesOf(tools: readonly ServerTool[]): string {
  return tools.map(({ name }) => cleanText(name, LONGEST_NAME)).join(', ')
}

function print({ step, ok, text, whole, data }: Step, json: boolean): void {
  if (json) return console.log(JSON.stringify({ step, ok, text, whole, ...data }))
  const mark = ok === undefined ? '·' : ok ? '✓' : '✗'
  console.log(`${mark} ${step.padEnd(13)}${text.replaceAll('\n', `\n${' '.repeat(15)}`)}`)
  if (whole !== undefined) console.log(whole)
}

function fail(message: string): number {
  console.error(message)
  return 2
}
