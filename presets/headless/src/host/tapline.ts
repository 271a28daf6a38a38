import {
  createKernel,
  createPipeline,
  type Diagnostic,
  type Frame,
  type Kernel,
  type Pipeline,
  policyFor,
  type Projects,
  type ServerSpec,
  type TaplineError,
  type TrustQuestion,
} from '@tapline/core'
import { type Catalogue, createCatalogue } from '@tapline/tools'
import { isToolsListChanged } from '@tapline/triggers'
import type { ServerChange } from '../changes/change.ts'
import { builtInPlugins } from '../plugins/built-in.ts'
import { loadNamedPlugins } from '../plugins/named.ts'
import type { Services } from '../plugins/services.ts'
import { readSettings } from '../settings/files.ts'
import { withLoopsConfig } from '../settings/loops-config.ts'
import { isKnownPolicy, strayPlugins, strayPushes } from '../settings/stray.ts'
import { applySettings, folded, type Settings } from '../settings/settings.ts'
import { eraMemory } from '../state/eras.ts'
import { type ServerLog, serverLog } from '../state/server-log.ts'
import { readConfiguration } from './configuration.ts'
import { runHost, type RunningHost } from './host.ts'
import { adopted, connectionOf } from './identity.ts'
import type { Tapline } from './interface.ts'
import { sharedLimitsOf } from './limits.ts'
import type { TaplineOptions } from './options.ts'
import { failureOf, noPushStream, noSink } from './server-diagnostics.ts'
import { createServer, type Server } from './server.ts'
import { createTelling } from './telling.ts'

export type { Tapline } from './interface.ts'

/** Reads the configuration and sets everything up; nothing connects before {@link Tapline.start}. */
export async function createTapline(options: TaplineOptions): Promise<Tapline> {
  const { settings, questions } = await readSettings(options.paths, options.trust)
  const named = await loadNamedPlugins(settings.plugins, options.paths.agentDir)
  const { told, tell, warnOnce } = createTelling((diagnostic) => options.onDiagnostic(diagnostic))
  const running = runHost(options, tell)
  const services: Services = {}
  let kernel: Kernel
  try {
    kernel = await createKernel({
      plugins: [
        ...builtInPlugins(services).filter((plugin) => !settings.disable.has(plugin.name)),
        ...named.plugins,
        ...(options.plugins ?? []),
      ],
      host: running.host,
      options: await withLoopsConfig(settings.options, options.paths.loopsDir, tell),
      report: (error) => tell({ severity: 'warning', message: error.toString() }),
      log: { info: () => undefined, warn: warnOnce },
    })
  } catch (thrown) {
    await running.close()
    throw thrown
  }
  for (const diagnostic of [...settings.diagnostics, ...named.diagnostics]) tell(diagnostic)
  const tapline = new RunningTapline(options, kernel, settings, told, tell, questions, running, services)
  for (const diagnostic of strayPlugins(settings, kernel.plugins)) tell(diagnostic)
  try {
    await tapline.reload()
    running.attach(tapline)
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
  readonly projects: Projects
  readonly services: Services
  servers: readonly Server[] = []
  questions: readonly TrustQuestion[] = []
  autoEnableCodemode = true
  readonly #options: TaplineOptions
  readonly #running: RunningHost
  readonly #settingsQuestions: readonly TrustQuestion[]
  /** What was found once, and what the server files say as they are now. */
  readonly #lasting: readonly Diagnostic[]
  #current: readonly Diagnostic[] = []
  readonly #eras
  readonly #log: ServerLog
  readonly #tell: (diagnostic: Diagnostic) => void
  readonly #told = new Set<string>()
  /** What was changed of servers that no file has. */
  readonly #changes = new Map<string, ServerChange>()
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
    running: RunningHost,
    services: Services,
  ) {
    this.#options = options
    this.#running = running
    this.projects = running.host.projects
    this.services = services
    this.kernel = kernel
    this.settings = settings
    this.#lasting = diagnostics
    this.#tell = tell
    this.#settingsQuestions = questions
    this.#eras = eraMemory(options.paths.agentDir, (name) => this.server(name)?.spec)
    this.#log = serverLog(options.paths.agentDir)
    this.catalogue = createCatalogue({ registerTool: kernel.hooks.registerTool, ...options.toolNames })
    this.pipeline = createPipeline({
      kernel,
      watchOnly: options.pushes === 'watch',
      onEnding: running.end,
      // What an extension has registered in this session, no other need have.
      hasCompany: (name) => this.server(name)?.spec.source.scope !== 'session' && running.hasCompany(),
      policyFor: (server, method) => policyFor(this.server(server)?.spec.push ?? {}, method, kernel.hasSink),
      sharedLimit: sharedLimitsOf(running.host, (source) => this.server(source)?.spec.push ?? {}),
      // Of any other policy the configuration has been told already.
      onMissingSink: (policy, server) => {
        if (isKnownPolicy(policy)) tell(noSink(policy, server))
      },
    })
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.#lasting, ...this.#current]
  }

  server(name: string): Server | undefined {
    return this.servers.find(({ spec }) => folded(spec.name) === folded(name))
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

  readonly change: Tapline['change'] = async (name, change, scope = 'here') => {
    const spec = this.server(name)?.spec
    if (!spec) throw new Error(`No MCP server is named "${name}".`)
    const { saveChange } = await import('../changes/places.ts')
    const savedTo = await saveChange(spec, change, scope, this.#options)
    if (savedTo === undefined)
      this.#changes.set(folded(name), { ...this.#changes.get(folded(name)), ...change })
    await this.reload()
    return savedTo === undefined ? {} : { savedTo }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#reloading.catch(() => undefined)
    try {
      await this.pipeline.close()
      this.catalogue.close()
      await Promise.allSettled(this.servers.map((server) => server.session.close()))
    } finally {
      this.#log.flush()
      await this.kernel.dispose()
      await this.#running.close()
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
      .map((spec) => applySettings(spec, this.settings, this.#options.elicit !== undefined))
      .map((spec) => ({
        ...spec,
        ...(spec.source.scope === 'session' ? this.#changes.get(folded(spec.name)) : {}),
        ...(attempts === undefined ? {} : { reconnect: { ...spec.reconnect, maxAttempts: attempts } }),
      }))
    const earlier = new Map(this.servers.map((server) => [connectionOf(server.spec), server]))
    const next = specs.map((spec) => earlier.get(connectionOf(spec)) ?? this.#create(spec))
    const changed = next.filter((server, index) => adopted(server, specs[index]!))
    const ended = this.servers.filter((server) => !next.includes(server))
    this.servers = next
    this.pipeline.reroute()
    this.catalogue.setServers(specs)
    // What they offered is gone at once, however long they take to end.
    for (const server of [...ended, ...changed]) this.#options.onServer?.(server)
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
      elicit: this.#options.elicit,
      onNotification: (...heard) => this.#receive(...heard),
      onChange: (server) => {
        this.#notePushStream(server)
        this.#options.onServer?.(server)
      },
      onError: (server, ...failure) => this.#fail(server.spec, ...failure),
    })
  }

  #receive(server: Server, frame: Frame, redact: (text: string) => string): void {
    if (frame.method === 'notifications/message') this.#log.write(server.spec.name, frame.params, redact)
    if (isToolsListChanged(frame.method)) server.toolsChanged()
    if (this.#options.pushes !== 'ignore') this.pipeline.receive(server.spec.name, frame)
  }

  /** Said once; of a stream that is refused, the reason is. */
  #notePushStream({ spec, session: { status } }: Server): void {
    if (status.report.pushStream !== 'none' || status.reason || this.#told.has(`stream ${spec.name}`)) return
    this.#told.add(`stream ${spec.name}`)
    this.#tell(noPushStream(spec))
  }

  #fail(spec: ServerSpec, error: TaplineError, over: boolean): void {
    this.pipeline.book(spec.name).lastError = error.message
    this.#options.onDiagnostic(failureOf(spec, error, over))
  }
}
