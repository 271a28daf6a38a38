import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { cleanText, cut, type Diagnostic, type Kernel, type ServerSpec, type ToolSpec } from '@tapline/core'
import {
  createTapline,
  isTrustedByPi,
  readSettings,
  redact,
  type Server,
  type Tapline,
  type TaplineOptions,
  trustStore,
} from '@tapline/headless'
import { asInSession } from './as-in-session.ts'

/** A server that is not there by then lends its tools to later runs, in milliseconds. */
const LONGEST_WAIT_MS = 10_000
const LONGEST_MESSAGE = 500
/** Secrets are looked for before a message is cut. */
const LONGEST_LOOKED_AT = 5_000

/** What the session around it gives a Tapline of another project. */
export interface LentProjectOptions extends Pick<
  TaplineOptions,
  'info' | 'mode' | 'env' | 'paths' | 'credentials' | 'isModelProvider'
> {
  /** The session's own kernel; undefined while it is being set up. */
  session(): Kernel | undefined
  /** The person's own server of this name as the session runs it, where it does. */
  running(server: string): ServerSpec | undefined
}

/**
 * The servers that another project has of its own, as far as the person has said yes to them, those of the person that
 * run there and not in the session, and what the project says of those that the session runs.
 */
export class LentProject {
  /** How many runs have it now. */
  users = 0
  readonly #cwd: string
  readonly #options: LentProjectOptions
  readonly #say: (diagnostic: Diagnostic) => void
  readonly #trust: TaplineOptions['trust']
  #tapline: Tapline | undefined
  #running = false
  #reading: Promise<void> = Promise.resolve()
  /** What was found while the configuration is read; later ones are said at once. */
  #found: Diagnostic[] | undefined
  /** Project files that somebody said no to. */
  readonly #refused = new Set<string>()
  /** By name. */
  #overrides: ReadonlyMap<string, ServerSpec> = new Map()
  #taken: (name: string) => boolean = () => false
  #closed = false

  /** `cwd` is the project's real path, `say` what tells the person. */
  constructor(cwd: string, options: LentProjectOptions, say: (diagnostic: Diagnostic) => void) {
    this.#cwd = cwd
    this.#options = options
    this.#say = say
    // Saved answers alone: what the command line says is about this session's project.
    const store = trustStore(options.paths.agentDir)
    this.#trust = {
      ...store,
      answer: (path, directory, content) => {
        const answer = store.answer(path, directory, content)
        if (answer === false) this.#refused.add(path)
        return answer
      },
    }
  }

  /** Whether there is anything to lend. */
  get hasServers(): boolean {
    return this.#tapline?.servers.some(({ spec }) => spec.enabled) === true
  }

  /** Whether its servers have been started. */
  get isRunning(): boolean {
    return this.#running
  }

  /** Reads configuration and trust as they are now. What is no longer trusted ends. Nothing new is started. */
  read(): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#read())
    return this.#reading
  }

  /** Connects what there is. Resolves when all are there or have failed, when the patience is over or `signal` aborts. */
  async connect(signal: AbortSignal): Promise<void> {
    if (!this.#tapline) return
    this.#running = true
    this.#tapline.start()
    const patience = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WAIT_MS)])
    const settled = Promise.all(this.#tapline.servers.map((server) => server.settled(patience)))
    await Promise.race([settled, aborted(patience)])
  }

  /** Whether servers that the session runs may be wanted otherwise there. */
  get hasOverrides(): boolean {
    return this.#overrides.size > 0
  }

  /** A server that the session runs, as it is wanted in this project; undefined where that is the same. */
  override(name: string): ServerSpec | undefined {
    return this.#overrides.get(name)
  }

  get servers(): readonly Server[] {
    return this.#tapline?.servers ?? []
  }

  server(name: string): Server | undefined {
    return this.#tapline?.server(name)
  }

  /** The tools of the servers that are connected now, named apart from those that are `taken`. */
  tools(taken: (name: string) => boolean): readonly ToolSpec[] {
    this.#taken = taken
    const { tools = [] } = this.#tapline?.catalogue.list({ provisional: true }) ?? {}
    return tools.filter(({ server }) => this.server(server.name)?.session.status.state === 'connected')
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#reading.catch(() => undefined)
    this.#overrides = new Map()
    await this.#end()
  }

  async #read(): Promise<void> {
    if (this.#closed) return
    const found: Diagnostic[] = []
    this.#found = found
    this.#refused.clear()
    try {
      await this.#open()
    } finally {
      this.#found = undefined
    }
    const unasked = this.#tapline?.questions.map(({ path }) => path) ?? []
    for (const diagnostic of this.#untrusted(unasked)) this.#tell(diagnostic)
    for (const diagnostic of found)
      if (!this.#refused.has(diagnostic.path ?? '') && !unasked.includes(diagnostic.path ?? ''))
        this.#tell(diagnostic)
    if (!this.hasServers) await this.#end()
  }

  async #open(): Promise<void> {
    const paths = { ...this.#options.paths, cwd: this.#cwd }
    const trust = this.#trust
    const earlier = this.#tapline
    if (earlier) {
      // Settings are the kernel's, and name plugins that somebody has trusted.
      const { settings } = await readSettings(paths, trust)
      if (isDeepStrictEqual(settings, earlier.settings)) return earlier.reload()
      await this.#end()
    }
    const { agentDir } = paths
    const cwd = this.#cwd
    this.#tapline = await createTapline({
      ...this.#options,
      plugins: [asInSession(this.#options.session, (servers) => this.#lent(servers))],
      paths,
      trust,
      get projectTrusted() {
        return isTrustedByPi(agentDir, cwd, true)
      },
      registered: () => [],
      pushes: 'ignore',
      // Nobody waits between two uses: each of them connects what has dropped out.
      attempts: 1,
      toolNames: { taken: (name) => this.#taken(name) },
      onDiagnostic: (diagnostic) => (this.#found ? this.#found.push(diagnostic) : this.#tell(diagnostic)),
    })
  }

  /**
   * Which of the servers that run there are connected for it: nothing is connected twice. Notes what is said of those
   * that the session has.
   */
  #lent(servers: readonly ServerSpec[]): readonly ServerSpec[] {
    const running = ({ name, source }: ServerSpec): ServerSpec | undefined =>
      source.scope === 'project' ? undefined : this.#options.running(name)
    // What the session's own project wants of a server does not hold there.
    const isOverridden = (spec: ServerSpec): boolean =>
      [spec, running(spec)].some((each) => each?.source.override !== undefined)
    const shared = servers.filter((spec) => running(spec) !== undefined)
    this.#overrides = new Map(shared.filter(isOverridden).map((spec) => [spec.name, spec]))
    return servers.filter(
      (spec) => !shared.includes(spec) && (spec.source.scope === 'project' || spec.enabled),
    )
  }

  #untrusted(unasked: readonly string[]): readonly Diagnostic[] {
    const { agentDir } = this.#options.paths
    const file = join(this.#cwd, '.pi', 'mcp.json')
    const ofPi = existsSync(file) && !isTrustedByPi(agentDir, this.#cwd, true) ? [file] : []
    const warn = (path: string, why: string): Diagnostic => ({
      severity: 'warning',
      message: `${relative(this.#cwd, path)} is not used for sub-agents that work there: ${why}.`,
      path,
    })
    return [
      ...ofPi.map((path) =>
        warn(path, 'pi has saved no yes to exactly this project; /trust, in a pi there, saves one'),
      ),
      ...unasked.map((path) => warn(path, 'nobody said yes to it; a pi that is started there asks')),
      ...[...this.#refused].map((path) => warn(path, 'somebody said no to it')),
    ]
  }

  /** What concerns this project and not the person's own files, of which the session speaks. */
  #tell({ severity, message, path, server }: Diagnostic): void {
    const { agentDir, loopsDir } = this.#options.paths
    const isIn = (directory: string): boolean => path?.startsWith(`${directory}${sep}`) === true
    const isOwn =
      path === undefined
        ? server !== undefined && this.server(server) !== undefined
        : isIn(this.#cwd) && !isIn(agentDir) && !isIn(loopsDir)
    if (!isOwn || this.#closed) return
    const text = `In ${this.#cwd}: ${redact(cleanText(message, LONGEST_LOOKED_AT))}`
    this.#say({ severity, message: cut(text, LONGEST_MESSAGE) })
  }

  async #end(): Promise<void> {
    const ended = this.#tapline
    this.#tapline = undefined
    this.#running = false
    await ended?.close()
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
