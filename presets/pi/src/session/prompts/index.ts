import type {
  ExtensionAPI,
  ExtensionCommandContext,
  ExtensionContext,
  InputEvent,
  InputEventResult,
} from '@earendil-works/pi-coding-agent'
import { cleanText, type HostPaths, isTaplineError } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { splitCommand } from '@tapline/prompts'
import type { Notices } from '../notices.ts'
import type { Toolbox } from '../toolbox.ts'
import { createCommands, type PromptCommands } from './commands.ts'
import { followLists, NOT_LOADED, type PromptLists, wordsOf } from './lists.ts'
import { type PromptMessage, sentContent } from './message.ts'

/** A message that has started no run after this time was refused, which pi has said, in milliseconds. */
const LONGEST_START_MS = 3_000

/** The prompts of servers as slash commands of one pi session. */
export interface SessionPrompts {
  /** Goes on with this Tapline. */
  use(tapline: Tapline): void
  /** Something about a server may have changed. */
  changed(server: Server): void
  /** Somebody has sent the name of a prompt that pi does not know as a command, or not yet. */
  input(event: InputEvent, ctx: ExtensionContext): Promise<InputEventResult>
  /** A run begins. */
  turnStarts(): void
  close(): void
}

/** The prompts of a session that has started. */
export function createPrompts(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  paths: HostPaths,
  notices: Notices,
  toolbox: Pick<Toolbox, 'isOwn'>,
): SessionPrompts {
  return new RunningPrompts(pi, ctx, paths, notices, toolbox)
}

class RunningPrompts implements SessionPrompts {
  readonly #pi
  readonly #paths
  readonly #notices
  readonly #toolbox
  readonly #commands: PromptCommands
  readonly #ended = new AbortController()
  #current: { readonly tapline: Tapline; readonly lists: PromptLists } | undefined
  #onStart: (() => void) | undefined

  constructor(...[pi, ctx, paths, notices, toolbox]: Parameters<typeof createPrompts>) {
    this.#pi = pi
    this.#paths = paths
    this.#notices = notices
    this.#toolbox = toolbox
    this.#commands = createCommands({
      pi,
      ctx,
      current: () => this.#current,
      run: (...command) => this.#run(...command),
    })
  }

  use(tapline: Tapline): void {
    this.#current?.lists.close()
    this.#current = undefined
    const { prompts } = tapline.services
    if (!prompts) return
    const onChange = (server: string): void => this.#commands.sync(server)
    const lists = followLists({ tapline, prompts, notices: this.#notices, onChange })
    this.#current = { tapline, lists }
    for (const server of tapline.servers) lists.changed(server)
  }

  changed(server: Server): void {
    this.#current?.lists.changed(server)
  }

  async input({ text, images = [] }: InputEvent, ctx: ExtensionContext): Promise<InputEventResult> {
    const [, name = '', typed = ''] = /^\/(\S+)\s*([^]*)$/.exec(text) ?? []
    if (!splitCommand(name) || !this.#current) return { action: 'continue' }
    const message = await this.#prepare(name, typed, ctx)
    if (!message) return { action: 'handled' }
    // What a server says is no command of pi's, also where it looks like one.
    const safe = message.text.startsWith('/') ? ` ${message.text}` : message.text
    return { action: 'transform', text: safe, images: [...images, ...message.images] }
  }

  turnStarts(): void {
    this.#onStart?.()
  }

  close(): void {
    this.#ended.abort()
    this.#onStart?.()
    this.#commands.close()
    this.#current?.lists.close()
  }

  async #run(name: string, typed: string, ctx: ExtensionCommandContext): Promise<void> {
    const message = await this.#prepare(name, typed, ctx)
    if (!message) return
    // Neither idle nor in a run: pi compacts, and takes no message meanwhile.
    if (!ctx.isIdle() && ctx.signal === undefined) await ctx.waitForIdle()
    if (this.#ended.signal.aborted) return
    const started = ctx.isIdle() ? this.#nextStart() : undefined
    this.#pi.sendUserMessage(sentContent(message), { deliverAs: 'followUp' })
    await started
    // As with any other message, pi's editor takes what was typed meanwhile when this one has been answered.
    if (started && ctx.mode === 'tui') await ctx.waitForIdle()
  }

  #nextStart(): Promise<void> {
    // Whoever waits for an earlier one waits for no other.
    this.#onStart?.()
    return new Promise((resolve) => {
      const start = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(start, LONGEST_START_MS)
      this.#onStart = start
    })
  }

  /** Undefined when the prompt was not run, which the person is told. */
  async #prepare(name: string, text: string, ctx: ExtensionContext): Promise<PromptMessage | undefined> {
    const { Cancelled, runPrompt } = await import('./running.ts')
    try {
      if (!this.#current) throw new Error(NOT_LOADED)
      return await runPrompt({
        ...this.#current,
        name,
        text,
        ctx,
        home: this.#paths.home,
        ended: this.#ended.signal,
        readsResources: (server) => this.#readsResources(server),
      })
    } catch (thrown) {
      const isOver = thrown instanceof Cancelled || (isTaplineError(thrown) && thrown.code === 'CANCELLED')
      if (isOver) tell(ctx, `/${name} was cancelled.`, 'info')
      else tell(ctx, `/${cleanText(name, 200)} was not run: ${wordsOf(thrown)}`, 'warning')
      return undefined
    }
  }

  #readsResources({ spec, session }: Server): boolean {
    const offers = session.status.capabilities?.['resources'] !== undefined
    return offers && spec.exposure !== 'hidden' && this.#toolbox.isOwn('read_mcp_resource')
  }
}

function tell({ hasUI, ui }: ExtensionContext, message: string, kind: 'info' | 'warning'): void {
  try {
    if (hasUI) return ui.notify(message, kind)
    // pi shows no notices here, and a script should know that nothing was asked.
    process.stderr.write(`${message}\n`)
    process.exitCode = 1
  } catch {
    // The session has ended: nobody is there to read it.
  }
}
