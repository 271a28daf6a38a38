import {
  createSession,
  type EraMemory,
  type ErrorCode,
  type Frame,
  isTaplineError,
  type Kernel,
  loadSdk,
  type ServerSpec,
  type Session,
  TaplineError,
} from '@tapline/core'
import type { TaplineOptions } from './options.ts'
import type { Catalogue } from '@tapline/tools'

/** What a server does to a list. Any other end is that of its connection, which says so itself, or of ours. */
const BY_THE_SERVER: ReadonlySet<ErrorCode> = new Set(['PROTOCOL', 'REQUEST_TIMEOUT', 'LIMIT_EXCEEDED'])

/** One configured server of a running Tapline. */
export interface Server {
  /** The entry as it is now: a reload may replace what does not decide about the connection. */
  readonly spec: ServerSpec
  readonly session: Session
  /** Whether its tools have been listed since this session began; before that they may come from a cache. */
  readonly listed: boolean
  /** Why the last list on this connection failed. */
  readonly listError: string | undefined
  /**
   * Why it could not be reached when that was last tried; undefined before the first attempt has ended, while it is
   * connected, when its connection has just been lost, and when somebody has asked for a connection anew.
   */
  readonly unreachable: string | undefined
  /** Resolves when the tools have been listed, or this attempt has failed. Never rejects. */
  settled(signal?: AbortSignal): Promise<void>
  /** The server said that its tools changed; the catalogue sees to it that a burst costs at most two lists. */
  toolsChanged(): void
  /** Takes another entry with the same connection; the session goes on. */
  adopt(spec: ServerSpec): void
}

/** What {@link createServer} takes. */
export interface ServerOptions {
  readonly spec: ServerSpec
  readonly kernel: Kernel
  readonly catalogue: Catalogue
  readonly eras: EraMemory
  readonly info: { readonly name: string; readonly version: string }
  readonly cwd: string
  readonly elicit?: TaplineOptions['elicit'] | undefined
  onNotification(server: Server, frame: Frame, redact: (text: string) => string): void
  onChange(server: Server): void
  onError(server: Server, error: TaplineError, over: boolean): void
}

/** A supervised server whose tool list is kept fresh. */
export function createServer(options: ServerOptions): Server {
  return new RunningServer(options)
}

class RunningServer implements Server {
  spec: ServerSpec
  readonly session: Session
  listed = false
  listError: string | undefined
  unreachable: string | undefined
  readonly #options: ServerOptions
  #listing: Promise<void> | undefined
  #wasConnecting = false
  #toldOfList: string | undefined

  constructor(options: ServerOptions) {
    this.#options = options
    this.spec = options.spec
    const { elicit } = options
    this.session = createSession({
      server: options.spec,
      ...(elicit && options.spec.elicitation !== false
        ? { elicit: (question, signal) => elicit(this.spec, question, signal) }
        : {}),
      cwd: options.cwd,
      info: options.info,
      sdk: loadSdk,
      eras: options.eras,
      transportFor: (request) => options.kernel.hooks.connect.promise(request),
      onNotification: (frame, redact) => options.onNotification(this, frame, redact),
      onCatalogueStale: () => this.#refresh(),
      onStatus: () => {
        this.#noteReach()
        options.onChange(this)
      },
      onError: (error, over) => options.onError(this, error, over),
    })
  }

  async settled(signal?: AbortSignal): Promise<void> {
    if (!this.spec.enabled) return
    try {
      await this.session.ready(signal)
      await this.#listing
    } catch {
      // The status says why.
    }
  }

  toolsChanged(): void {
    this.#refresh()
  }

  adopt(spec: ServerSpec): void {
    this.spec = spec
  }

  #noteReach(): void {
    const { state, attempt, reason = state } = this.session.status
    const connecting = state === 'connecting'
    const failed = state === 'auth_failed' || state === 'disconnected'
    if (failed || (state === 'reconnecting' && this.#wasConnecting)) this.unreachable = reason
    else if (state === 'connected' || (connecting && attempt === 1)) this.unreachable = undefined
    this.#wasConnecting = connecting
    if (state !== 'connected') this.listError = undefined
  }

  #refresh(): void {
    const listing = this.#list()
    this.#listing = listing
    void listing.then(() => {
      if (this.#listing === listing) this.#options.onChange(this)
    })
  }

  async #list(): Promise<void> {
    try {
      await this.#options.catalogue.refresh(this.session)
      this.listed = true
      this.listError = undefined
      this.#toldOfList = undefined
    } catch (thrown) {
      // When the connection is gone, its status says so.
      if (this.session.status.state === 'connected') {
        this.listError = `tools/list failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`
        if (isTaplineError(thrown) && BY_THE_SERVER.has(thrown.code)) this.#tellOfList(this.listError)
      }
    }
  }

  /** Once, until it has been listed. */
  #tellOfList(message: string): void {
    if (this.#toldOfList === message) return
    this.#toldOfList = message
    const advice = 'What else it offers works; /mcp reconnect it to have it list its tools again.'
    this.#options.onError(
      this,
      new TaplineError('PROTOCOL', message, { server: this.spec.name, advice }),
      true,
    )
  }
}
