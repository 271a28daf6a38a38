import { createRequire } from 'node:module'
import { basename } from 'node:path'
import type {
  ExtensionAPI,
  ExtensionCommandContext,
  ExtensionContext,
  ToolDefinition,
} from '@earendil-works/pi-coding-agent'
import { messageOf } from '@tapline/core'
import type { Diagnostic, TrustQuestion } from '@tapline/core'
import {
  createTapline,
  isModelProvider,
  pathsFor,
  piCredentialStore,
  SETTINGS_FILES,
  type Tapline,
  trustStore,
} from '@tapline/headless'
import { approvalOnCommandLine } from './approval.ts'
import { createChat } from './chat.ts'
import { completeMcp, completeTriggers, runMcp, runTriggers } from './commands.ts'
import { createEvents } from './events.ts'
import { createFooter } from './footer.ts'
import { askAboutProject, offerSilence } from './questions.ts'
import { activateReachingTools, serversToWaitFor } from './reach.ts'
import { createNotices } from './notices.ts'
import { createToolbox } from './toolbox.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

type ToolCall = Parameters<ToolDefinition['execute']>
type Completions = { value: string; label: string; description?: string }[] | null

/** Tapline in one pi session, as the entry drives it. */
export interface PiSession {
  /** Waits for direct tools that are not known yet, at most ten seconds after the session's start. */
  beforePrompt(signal: AbortSignal | undefined): Promise<void>
  /** Waits for the servers that this call may reach. */
  beforeToolCall(name: string, input: Record<string, unknown>, signal: AbortSignal | undefined): Promise<void>
  callTool(name: string, ...call: ToolCall): ReturnType<ToolDefinition['execute']>
  /** The agent has nothing to do: turns that waited may run. */
  settled(): void
  /** Other extensions have added or removed servers. */
  serversRegistered(): Promise<void>
  mcp(args: string, ctx: ExtensionCommandContext): Promise<void>
  triggers(args: string, ctx: ExtensionCommandContext): Promise<void>
  completeMcp(prefix: string): Completions
  completeTriggers(prefix: string): Completions
  /** Ends servers and plugins. Nothing of this session runs afterwards. */
  close(): Promise<void>
}

/** Sets Tapline up for a session that has just started and begins to connect in the background. */
export async function openSession(
  pi: ExtensionAPI,
  ctx: ExtensionContext,
  cachedNames: ReadonlySet<string>,
  plugins: readonly unknown[],
): Promise<PiSession> {
  const session = new RunningSession(pi, ctx, cachedNames, plugins)
  await session.open()
  return session
}

class RunningSession implements PiSession {
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
  #tapline: Tapline | undefined
  #closed = false

  constructor(
    pi: ExtensionAPI,
    ctx: ExtensionContext,
    cachedNames: ReadonlySet<string>,
    plugins: readonly unknown[],
  ) {
    this.#pi = pi
    this.#plugins = plugins
    this.#ctx = ctx
    this.#paths = pathsFor(process.env, ctx.cwd)
    this.#notices = createNotices(ctx)
    this.#trust = trustStore(this.#paths.agentDir, approvalOnCommandLine(process.argv), (path, keptAs) =>
      this.#notices.say({
        severity: 'warning',
        message: `${path} could not be read and was set aside as ${keptAs}.`,
      }),
    )
    this.#chat = createChat(pi, ctx)
    this.#footer = createFooter(ctx)
    this.#events = createEvents(pi)
    this.#toolbox = createToolbox({
      pi,
      paths: this.#paths,
      cachedNames,
      notices: this.#notices,
      onApplied: (server, tools) => this.#events.server(server, tools),
    })
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
      info: { name: 'tapline', version },
      mode,
      pushes: consumes ? 'deliver' : 'ignore',
      paths: this.#paths,
      env: process.env,
      projectTrusted: this.#ctx.isProjectTrusted(),
      trust: this.#trust,
      registered: () =>
        this.#pi
          .getMcpServers()
          .map(({ name, config, extensionPath }) => ({ name, config, by: extensionPath })),
      plugins: [...this.#plugins, this.#events.plugin],
      credentials: [piCredentialStore(this.#paths.agentDir, process.env)],
      isModelProvider: (name) =>
        isModelProvider(this.#paths.agentDir, name) ||
        this.#ctx.modelRegistry.getAll().some((model) => model.provider === name),
      toolNames: { taken: (name) => this.#toolbox.taken(name) },
      onDiagnostic: (diagnostic) => (starting ? tell(diagnostic) : this.#notices.say(diagnostic)),
      onServer: (server) => {
        if (this.#closed || !this.#tapline) return
        this.#footer.show(this.#tapline.servers)
        // What is connected is told of when its tools are registered.
        if (server.session.status.state !== 'connected')
          this.#events.server(server, this.#toolbox.toolsOf(server.spec.name))
        this.#toolbox.changed()
      },
      ...(consumes ? { chat: this.#chat } : {}),
    })
    starting = false
    if (this.#closed) return tapline.close()
    this.#tapline = tapline
    this.#toolbox.use(tapline)
    activateReachingTools(this.#pi, this.#ctx, tapline, this.#notices, this.#toolbox)
    this.#footer.show(tapline.servers)
    tapline.start()
  }

  /** Asks what only a person can answer, without holding anything up; says what was held back for it. */
  async #ask(questions: readonly TrustQuestion[], held: readonly Diagnostic[]): Promise<void> {
    try {
      const trusted = await askAboutProject(this.#ctx, questions, this.#trust)
      for (const diagnostic of held)
        if (!trusted.includes(diagnostic.path ?? '')) this.#notices.say(diagnostic)
      // Settings are the kernel's; servers come and go without it.
      if (trusted.some((path) => SETTINGS_FILES.some((name) => basename(path) === name)))
        await this.#restart()
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

  async beforePrompt(signal: AbortSignal | undefined): Promise<void> {
    await this.#toolbox.ready(signal)
  }

  async beforeToolCall(
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const servers = this.#tapline?.servers.filter(({ spec }) => spec.enabled) ?? []
    const waiting = serversToWaitFor(this.#pi, servers, name, input)
    if (waiting.length === 0) return
    await Promise.all(waiting.map((server) => server.settled(signal)))
    this.#toolbox.applyNow()
  }

  callTool(name: string, ...call: ToolCall): ReturnType<ToolDefinition['execute']> {
    return this.#toolbox.call(name, ...call)
  }

  settled(): void {
    this.#chat.flush()
  }

  async serversRegistered(): Promise<void> {
    if (!this.#tapline) return
    await this.#tapline.reload()
    activateReachingTools(this.#pi, this.#ctx, this.#tapline, this.#notices, this.#toolbox)
    this.#footer.show(this.#tapline.servers)
    this.#toolbox.changed()
  }

  async mcp(args: string, ctx: ExtensionCommandContext): Promise<void> {
    await runMcp(args, ctx, this.#open(), this.#toolbox)
  }

  async triggers(args: string, ctx: ExtensionCommandContext): Promise<void> {
    await runTriggers(args, ctx, this.#open(), this.#toolbox)
  }

  completeMcp(prefix: string): Completions {
    return completeMcp(prefix, this.#tapline?.servers ?? [])
  }

  completeTriggers(prefix: string): Completions {
    return completeTriggers(prefix)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#notices.close()
    this.#chat.close()
    await this.#toolbox.close()
    await this.#tapline?.close()
  }

  #open(): Tapline {
    if (!this.#tapline) throw new Error('The MCP servers are being set up; try again in a moment.')
    return this.#tapline
  }
}
