import {
  createKernel,
  createPipeline,
  type Diagnostic,
  type Frame,
  type Kernel,
  type Pipeline,
  policyFor,
  sentence,
  type ServerSpec,
  type TaplineError,
  type TrustQuestion,
} from '@tapline/core'
import { type Catalogue, createCatalogue } from '@tapline/tools'
import { isToolsListChanged } from '@tapline/triggers'
import { builtInPlugins } from '../plugins/built-in.ts'
import { loadNamedPlugins } from '../plugins/named.ts'
import { readSettings } from '../settings/files.ts'
import { isKnownPolicy, strayPlugins, strayPushes } from '../settings/stray.ts'
import { applySettings, type Settings } from '../settings/settings.ts'
import { eraMemory } from '../state/eras.ts'
import { readConfiguration } from './configuration.ts'
import { hostOf } from './host.ts'
import type { TaplineOptions } from './options.ts'
import { createServer, type Server } from './server.ts'

/** Tapline in one process: the kernel, the servers and the pipeline. */
export interface Tapline {
  readonly kernel: Kernel
  readonly pipeline: Pipeline
  /** The tools of all servers. */
  readonly catalogue: Catalogue
  readonly settings: Settings
  /** Every configured server in order, the disabled ones too. */
  readonly servers: readonly Server[]
  readonly diagnostics: readonly Diagnostic[]
  /** Project files that are not used because nobody was asked about them. */
  readonly questions: readonly TrustQuestion[]
  /** False when mcp.json forbids to activate codemode for its servers. */
  readonly autoEnableCodemode: boolean
  server(name: string): Server | undefined
  /** Begins to connect the enabled servers, in the background. */
  start(): void
  /** Reads the server files again. Servers whose entry is the same keep running. */
  reload(): Promise<void>
  /** Ends every server and plugin within a bounded time. */
  close(): Promise<void>
}

/** Reads the configuration and sets everything up; nothing connects before {@link Tapline.start}. */
export async function createTapline(options: TaplineOptions): Promise<Tapline> {
  const { settings, questions } = await readSettings(options.paths, options.trust)
  const named = await loadNamedPlugins(settings.plugins, options.paths.agentDir)
  const diagnostics: Diagnostic[] = []
  const tell = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic)
    options.onDiagnostic(diagnostic)
  }
  const kernel = await createKernel({
    plugins: [
      ...builtInPlugins().filter((plugin) => !settings.disable.has(plugin.name)),
      ...named.plugins,
      ...(options.plugins ?? []),
    ],
    host: hostOf(options),
    options: settings.options,
    report: (error) => tell({ severity: 'warning', message: error.toString() }),
  })
  for (const diagnostic of [...settings.diagnostics, ...named.diagnostics]) tell(diagnostic)
  const tapline = new RunningTapline(options, kernel, settings, diagnostics, tell, questions)
  for (const diagnostic of strayPlugins(settings, kernel.plugins)) tell(diagnostic)
  try {
    await tapline.reload()
  } catch (thrown) {
    await tapline.close()
    throw thrown
  }
  return tapline
}

class RunningTapline implements Tapline {
  readonly kernel: Kernel
  readonly pipeline: Pipeline
  readonly catalogue: Catalogue
  readonly settings: Settings
  servers: readonly Server[] = []
  questions: readonly TrustQuestion[] = []
  autoEnableCodemode = true
  readonly #options: TaplineOptions
  readonly #settingsQuestions: readonly TrustQuestion[]
  /** What was found once, and what the server files say as they are now. */
  readonly #lasting: readonly Diagnostic[]
  #current: readonly Diagnostic[] = []
  readonly #eras
  readonly #tell: (diagnostic: Diagnostic) => void
  readonly #told = new Set<string>()
  #started = false
  #closed = false
  #reloading: Promise<void> = Promise.resolve()

  constructor(
    options: TaplineOptions,
    kernel: Kernel,
    settings: Settings,
    diagnostics: readonly Diagnostic[],
    tell: (diagnostic: Diagnostic) => void,
    questions: readonly TrustQuestion[],
  ) {
    this.#options = options
    this.kernel = kernel
    this.settings = settings
    this.#lasting = diagnostics
    this.#tell = tell
    this.#settingsQuestions = questions
    this.#eras = eraMemory(options.paths.agentDir, (name) => this.server(name)?.spec)
    this.catalogue = createCatalogue({ registerTool: kernel.hooks.registerTool, ...options.toolNames })
    this.pipeline = createPipeline({
      kernel,
      watchOnly: options.pushes === 'watch',
      policyFor: (server, method) => policyFor(this.server(server)?.spec.push ?? {}, method, kernel.hasSink),
      onMissingSink: (policy, server) => {
        // Of any other policy the configuration has been told already.
        if (!isKnownPolicy(policy)) return
        const message = `server "${server}": no plugin provides the sink "${policy}"; its pushes are dropped.`
        tell({ severity: 'warning', message, server })
      },
    })
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.#lasting, ...this.#current]
  }

  server(name: string): Server | undefined {
    return this.servers.find((server) => sameName(server.spec.name, name))
  }

  start(): void {
    this.#started = true
    for (const server of this.servers) if (server.spec.enabled) server.session.start()
  }

  reload(): Promise<void> {
    // One that failed is the business of who asked for it.
    this.#reloading = this.#reloading.catch(() => undefined).then(() => this.#reload())
    return this.#reloading
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#reloading.catch(() => undefined)
    try {
      this.pipeline.close()
      this.catalogue.close()
      await Promise.allSettled(this.servers.map((server) => server.session.close()))
    } finally {
      await this.kernel.dispose()
    }
  }

  async #reload(): Promise<void> {
    if (this.#closed) return
    const state = await readConfiguration(this.kernel, this.#options)
    this.questions = [...this.#settingsQuestions, ...state.questions]
    this.autoEnableCodemode = state.autoEnableCodemode !== false
    this.#current = [...state.diagnostics, ...strayPushes(this.settings, state, this.kernel.hasSink)]
    for (const diagnostic of this.#current) {
      if (this.#told.has(diagnostic.message)) continue
      this.#told.add(diagnostic.message)
      this.#options.onDiagnostic(diagnostic)
    }
    const { attempts } = this.#options
    const specs = state.servers
      .map((spec) => applySettings(spec, this.settings))
      .map((spec) =>
        attempts === undefined ? spec : { ...spec, reconnect: { ...spec.reconnect, maxAttempts: attempts } },
      )
    const earlier = new Map(this.servers.map((server) => [JSON.stringify(server.spec), server]))
    const next = specs.map((spec) => earlier.get(JSON.stringify(spec)) ?? this.#create(spec))
    const ended = this.servers.filter((server) => !next.includes(server))
    this.servers = next
    this.pipeline.reroute()
    this.catalogue.setServers(specs)
    // What they offered is gone at once, however long they take to end.
    for (const server of ended) this.#options.onServer?.(server)
    await Promise.all(ended.map((server) => server.session.close()))
    if (this.#started) this.start()
  }

  #create(spec: ServerSpec): Server {
    return createServer({
      spec,
      kernel: this.kernel,
      catalogue: this.catalogue,
      eras: this.#eras,
      info: this.#options.info,
      cwd: this.#options.paths.cwd,
      onNotification: (server, frame) => this.#receive(server, frame),
      onChange: (server) => {
        this.#notePushStream(server)
        this.#options.onServer?.(server)
      },
      onError: (error) => this.#fail(spec, error),
    })
  }

  #receive(server: Server, frame: Frame): void {
    if (isToolsListChanged(frame.method)) server.toolsChanged()
    if (this.#options.pushes !== 'ignore') this.pipeline.receive(server.spec.name, frame)
  }

  /** Said once, and a warning only where somebody asked for this server's pushes. */
  #notePushStream({ spec, session }: Server): void {
    if (session.status.report.pushStream !== 'none' || this.#told.has(`stream ${spec.name}`)) return
    this.#told.add(`stream ${spec.name}`)
    const severity = Object.keys(spec.push).length > 0 ? 'warning' : 'info'
    const message = `server "${spec.name}" offers no server-push stream: its tools work, notifications do not arrive.`
    this.#tell({ severity, message, server: spec.name })
  }

  #fail(spec: ServerSpec, error: TaplineError): void {
    this.pipeline.book(spec.name).lastError = error.message
    const retrying =
      error.code === 'RECONNECT_EXHAUSTED' || error.code === 'AUTH_FAILED' || spec.reconnect.maxAttempts === 1
        ? error.advice
        : `(retrying with backoff, up to ${spec.reconnect.maxAttempts} attempts)`
    this.#options.onDiagnostic({
      severity: 'warning',
      message: `mcp server '${spec.name}' failed: ${sentence(error.message)} ${retrying}`,
      server: spec.name,
    })
  }
}

function sameName(a: string, b: string): boolean {
  return a.replaceAll('-', '_') === b.replaceAll('-', '_')
}
