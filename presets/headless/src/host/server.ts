import {
  createSession,
  type EraMemory,
  type Frame,
  type Kernel,
  loadSdk,
  type ServerSpec,
  type ServerTool,
  type Session,
  type TaplineError,
} from '@tapline/core'
import { listAllTools } from '@tapline/tools'

/** One configured server of a running Tapline: its session and its tools. */
export interface Server {
  readonly spec: ServerSpec
  readonly session: Session
  /** The tools as last listed; undefined before the first list of this session. */
  readonly tools: readonly ServerTool[] | undefined
  /** What was wrong with the list itself. */
  readonly toolProblems: readonly string[]
  /** Resolves when the tools have been listed, or this attempt has failed. Never rejects. */
  settled(signal?: AbortSignal): Promise<void>
  /** Lists the tools anew, at once. */
  refreshTools(): void
  /** Lists the tools anew when the server has been quiet for a moment: a burst of changes costs one list. */
  toolsChanged(): void
}

const QUIET_MS = 100
const LONGEST_BURST_MS = 1_000

/** What {@link createServer} takes. */
export interface ServerOptions {
  readonly spec: ServerSpec
  readonly kernel: Kernel
  readonly eras: EraMemory
  readonly info: { readonly name: string; readonly version: string }
  readonly cwd: string
  onNotification(server: Server, frame: Frame): void
  onChange(server: Server): void
  onError(error: TaplineError): void
}

/** A supervised server whose tool list is kept fresh. */
export function createServer(options: ServerOptions): Server {
  return new RunningServer(options)
}

class RunningServer implements Server {
  readonly spec: ServerSpec
  readonly session: Session
  tools: readonly ServerTool[] | undefined
  toolProblems: readonly string[] = []
  readonly #options: ServerOptions
  #listing: Promise<void> | undefined
  #again = false
  #quiet: NodeJS.Timeout | undefined
  #burst: number | undefined

  constructor(options: ServerOptions) {
    this.#options = options
    this.spec = options.spec
    this.session = createSession({
      server: options.spec,
      cwd: options.cwd,
      info: options.info,
      sdk: loadSdk,
      eras: options.eras,
      transportFor: (request) => options.kernel.hooks.connect.promise(request),
      onNotification: (frame) => options.onNotification(this, frame),
      onCatalogueStale: () => this.refreshTools(),
      onStatus: () => options.onChange(this),
      onError: (error) => options.onError(error),
    })
  }

  async settled(signal?: AbortSignal): Promise<void> {
    if (!this.spec.enabled) return
    try {
      await this.session.ready(signal)
      while (this.#listing) await this.#listing
    } catch {
      // The status says why.
    }
  }

  toolsChanged(): void {
    if (this.#listing) {
      this.#again = true
      return
    }
    this.#burst ??= performance.now()
    if (this.#quiet && performance.now() - this.#burst > LONGEST_BURST_MS) return
    clearTimeout(this.#quiet)
    this.#quiet = setTimeout(() => this.refreshTools(), QUIET_MS)
    this.#quiet.unref()
  }

  refreshTools(): void {
    clearTimeout(this.#quiet)
    this.#quiet = undefined
    this.#burst = undefined
    if (this.#listing) {
      this.#again = true
      return
    }
    this.#listing = this.#list().finally(() => {
      this.#listing = undefined
      if (this.#again) {
        this.#again = false
        this.toolsChanged()
      }
      this.#options.onChange(this)
    })
  }

  async #list(): Promise<void> {
    if (this.session.status.state !== 'connected') return
    try {
      const { tools, problems } = await listAllTools(this.session)
      this.tools = tools
      this.toolProblems = problems
    } catch (thrown) {
      this.toolProblems = [`tools/list failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`]
    }
  }
}
