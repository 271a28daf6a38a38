import { basename } from 'node:path'
import type {
  ExtensionAPI,
  ExtensionCommandContext,
  ExtensionContext,
  ToolDefinition,
} from '@earendil-works/pi-coding-agent'
import { type Diagnostic, messageOf, type TrustQuestion } from '@tapline/core'
import { createTapline, pathsFor, SETTINGS_FILES, type Tapline, trustStore } from '@tapline/headless'
import type { EarlyTools } from '../cached-tools.ts'
import { type PromptSections, sectionsOf } from '../prompt-sections.ts'
import { RULE_TOOL_NAMES, withdrawRuleTools } from '../rule-tools.ts'
import { createAgents } from './agents/index.ts'
import { approvalOnCommandLine } from './approval.ts'
import { createChannels } from './channels/index.ts'
import { createChat } from './chat.ts'
import { audible } from './commands/audible.ts'
import { COMMANDS, type CommandScope, type Completions } from './commands/index.ts'
import { createEvents } from './events.ts'
import { fromPi } from './from-pi.ts'
import { createFooter } from './footer.ts'
import { INFO } from './info.ts'
import { askAboutProject, offerSilence } from './questions.ts'
import { activateReachingTools, serversToWaitFor } from './reach.ts'
import { createNotices } from './notices.ts'
import { createPanel } from './panel/index.ts'
import { createPrompts, type SessionPrompts } from './prompts/index.ts'
import { createToolbox } from './toolbox.ts'

type ToolCall = Parameters<ToolDefinition['execute']>

/** Tapline in one pi session, as the entry drives it. */
export interface PiSession {
  /** Waits at most ten seconds from the start for direct tools not known yet; answers what the prompt says. */
  beforePrompt(signal: AbortSignal | undefined): Promise<PromptSections>
  /** Waits for the servers that this call may reach. */
  beforeToolCall(name: string, input: Record<string, unknown>, signal: AbortSignal | undefined): Promise<void>
  callTool(name: string, ...call: ToolCall): ReturnType<ToolDefinition['execute']>
  /** The agent has nothing to do: turns that waited may run. */
  settled(): void
  /** Other extensions have added or removed servers. */
  serversRegistered(): Promise<void>
  /** Runs the slash command of this name. */
  command(name: string, args: string, ctx: ExtensionCommandContext): Promise<void>
  complete(name: string, prefix: string): Promise<Completions>
  readonly prompts: Pick<SessionPrompts, 'input'>
  /** Ends servers and plugins. Nothing of this session runs afterwards. */
  close(): Promise<void>
}

/** Sets Tapline up for a session that has just started and begins to connect in the background. */
export async function openSession(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  early: EarlyTools,
  plugins: readonly unknown[],
): Promise<PiSession> {
  const session = new RunningSession(pi, ctx, early, plugins)
  await session.open()
  return session
}

class RunningSession implements PiSession {
  readonly prompts: SessionPrompts
  readonly #pi: ExtensionAPI
  readonly #ctx: ExtensionContext
  readonly #plugins: readonly unknown[]
  readonly #paths
  readonly #trust
  readonly #notices
  readonly #chat
  readonly #footer
  readonly #events
  readonly #toolbox
  readonly #channels
  readonly #agents
  readonly #panel
  #tapline: Tapline | undefined
  #restarting: Promise<void> | undefined
  #closed = false

  constructor(...[pi, ctx, early, plugins]: Parameters<typeof openSession>) {
    this.#pi = pi
    this.#plugins = plugins
    this.#ctx = ctx
    this.#paths = pathsFor(process.env, ctx.cwd)
    this.#notices = createNotices(ctx)
    const approval = approvalOnCommandLine(process.argv)
    this.#trust = trustStore(this.#paths.agentDir, approval, this.#notices.setAside)
    this.#chat = createChat(pi, ctx, () => this.#tapline?.services.rules)
    this.#panel = createPanel(ctx, this.#paths)
    this.#footer = createFooter(ctx, this.#paths)
    this.#events = createEvents(pi)
    this.#toolbox = createToolbox({
      pi,
      paths: this.#paths,
      early,
      notices: this.#notices,
      onApplied: (server, tools) => this.#events.server(server, tools),
    })
    this.#channels = createChannels(pi, ctx, this.#paths, this.#notices, this.#toolbox)
    this.prompts = createPrompts(pi, ctx, this.#paths, this.#notices, this.#toolbox)
    const shared = () => (this.#tapline ? this.#scope() : undefined)
    this.#agents = createAgents({ pi, ctx, paths: this.#paths, notices: this.#notices, shared })
  }

  async open(): Promise<void> {
    // What a person is asked about is not complained of before the answer.
    const early: Diagnostic[] = []
    await this.#start((diagnostic) => early.push(diagnostic))
    const questions = this.#ctx.hasUI ? (this.#tapline?.questions ?? []) : []
    const asked = new Set(questions.map(({ path }) => path))
    for (const diagnostic of early) if (!asked.has(diagnostic.path ?? '')) this.#notices.say(diagnostic)
    void this.#ask(
      questions,
      early.filter(({ path }) => asked.has(path ?? '')),
    )
  }

  /** Diagnostics of the start go to `tell`, later ones to the person. */
  async #start(tell: (diagnostic: Diagnostic) => void): Promise<void> {
    const { mode } = this.#ctx
    let starting = true
    const consumes = mode === 'tui' || mode === 'rpc'
    const tapline = await createTapline({
      info: INFO,
      mode,
      pushes: consumes ? 'deliver' : 'ignore',
      paths: this.#paths,
      env: process.env,
      trust: this.#trust,
      ...fromPi(this.#pi, this.#ctx, this.#paths),
      plugins: [...this.#plugins, this.#events.plugin, this.#panel.plugin, this.#chat.plugin],
      toolNames: { taken: (name) => this.#toolbox.taken(name) },
      onDiagnostic: (diagnostic) => (starting ? tell(diagnostic) : this.#notices.say(diagnostic)),
      onServer: (server) => {
        if (this.#closed || !this.#tapline) return
        this.#footer.show(this.#tapline)
        // What is connected is told of when its tools are registered.
        if (server.session.status.state !== 'connected')
          this.#events.server(server, this.#toolbox.toolsOf(server.spec.name))
        this.#toolbox.changed()
        this.#channels.changed(server)
        this.prompts.changed(server)
      },
      ...(this.#agents ? { agents: this.#agents } : {}),
      ...(consumes ? { chat: this.#chat } : {}),
    })
    starting = false
    if (this.#closed) return tapline.close()
    this.#tapline = tapline
    for (const part of [this.#toolbox, this.#channels, this.#panel, this.prompts]) part.use(tapline)
    if (!tapline.services.rules) withdrawRuleTools(this.#pi)
    activateReachingTools(this.#pi, this.#ctx, tapline, this.#notices, this.#toolbox)
    this.#footer.show(tapline)
    tapline.start()
    this.#notices.holdUntil(Promise.all(tapline.servers.map((server) => server.settled())))
  }

  /** Asks what only a person can answer, without holding anything up; says what was held back for it. */
  async #ask(questions: readonly TrustQuestion[], held: readonly Diagnostic[]): Promise<void> {
    try {
      const trusted = await askAboutProject(this.#ctx, questions, this.#trust)
      for (const diagnostic of held)
        if (!trusted.includes(diagnostic.path ?? '')) this.#notices.say(diagnostic)
      // Settings are the kernel's; servers come and go without it.
      if (trusted.some((path) => SETTINGS_FILES.some((name) => basename(path) === name)))
        await (this.#restarting = this.#restart())
      else if (trusted.length > 0) await this.serversRegistered()
      await offerSilence(this.#ctx, this.#paths.agentDir)
    } catch (thrown) {
      if (!this.#closed) this.#notices.say({ severity: 'warning', message: messageOf(thrown) })
    }
  }

  async #restart(): Promise<void> {
    if (this.#closed) return
    const earlier = this.#tapline
    this.#tapline = undefined
    await earlier?.close()
    await this.#start((diagnostic) => this.#notices.say(diagnostic))
  }

  async beforePrompt(signal: AbortSignal | undefined): Promise<PromptSections> {
    this.prompts.turnStarts()
    await this.#toolbox.ready(signal)
    return sectionsOf(this.#toolbox, this.#channels)
  }

  async beforeToolCall(
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const servers = this.#tapline?.servers.filter(({ spec }) => spec.enabled) ?? []
    const waiting = serversToWaitFor(this.#pi, servers, name, input)
    await Promise.all(waiting.map((server) => server.settled(signal)))
    await this.#toolbox.upToDate(signal)
  }

  async callTool(name: string, ...call: ToolCall): ReturnType<ToolDefinition['execute']> {
    if (!RULE_TOOL_NAMES.includes(name)) return this.#toolbox.call(name, ...call)
    const { callRuleTool } = await import('./rule-tools/index.ts')
    return callRuleTool(this.#scope(), name, ...call)
  }

  settled(): void {
    this.#chat.flush()
  }

  async serversRegistered(): Promise<void> {
    await this.#tapline?.reload()
    this.#reloaded()
  }

  #reloaded(): void {
    if (!this.#tapline) return
    activateReachingTools(this.#pi, this.#ctx, this.#tapline, this.#notices, this.#toolbox)
    this.#footer.show(this.#tapline)
    this.#toolbox.changed()
  }

  async command(name: string, args: string, ctx: ExtensionCommandContext): Promise<void> {
    await (await COMMANDS[name]?.())?.run(args, audible(ctx), this.#scope())
  }

  async complete(name: string, prefix: string): Promise<Completions> {
    return (await COMMANDS[name]?.())?.complete(prefix, this.#tapline, this.#paths) ?? null
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#notices.close()
    await this.#restarting?.catch(() => undefined)
    this.#chat.end()
    // What waited for its window is delivered now: the chat must still be there.
    await this.#tapline?.pipeline.close()
    for (const part of [this.#chat, this.#channels, this.#panel, this.#footer, this.prompts]) part.close()
    await this.#toolbox.close()
    await Promise.all([this.#tapline?.close(), this.#agents?.close()])
  }

  #scope(): CommandScope {
    const tapline = this.#tapline
    if (!tapline) throw new Error('The MCP servers are being set up; try again in a moment.')
    const reloaded = (): void => this.#reloaded()
    return { pi: this.#pi, tapline, toolbox: this.#toolbox, paths: this.#paths, panel: this.#panel, reloaded }
  }
}
