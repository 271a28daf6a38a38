import type { ExtensionAPI, ToolDefinition } from '@earendil-works/pi-coding-agent'
import { cleanText, type HostPaths, messageOf, settledWithin, type ToolSpec } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { type ToolList, toolName } from '@tapline/tools'
import type { EarlyTools } from '../cached-tools.ts'
import { serversSection } from '../servers-section.ts'
import { callServer } from './calls.ts'
import type { Notices } from './notices.ts'
import { createPasses, type Passes, unlessAborted } from './passes.ts'
import { assertReachable, exposuresOf, whyGone } from './reach.ts'
import { comesFromFactory, createRegistry, type Registry } from './registry.ts'
import { createResourceTools, type ResourceTools } from './resource-tools/index.ts'
import { type ToolMemory, toolMemory } from './tool-memory.ts'

/** Direct tools that nobody knows yet are waited for this long, counted from the session's start. */
const LONGEST_WAIT_MS = 10_000
const GATHER_MS = 50
const LAST_PASS_MS = 1_000
type ToolCall = Parameters<ToolDefinition['execute']>

/** The tools of one pi session: when they are registered, and what their calls do. */
export interface Toolbox {
  /** Sentences about tools that are not offered. */
  readonly problems: readonly string[]
  /** The names of a server's tools, as the model calls them. */
  toolsOf(server: string): readonly string[]
  /** Registers what the cache knows and follows the servers of this Tapline from now on. */
  use(tapline: Tapline): void
  /** Something about servers or tools may have changed: registered soon. */
  changed(): void
  /** Registers what is known now; resolves when all of it is. */
  applyNow(): Promise<void>
  /** Resolves when the direct tools are registered, or waited for long enough. */
  ready(signal: AbortSignal | undefined): Promise<void>
  /** Resolves when everything that is known now is registered. */
  upToDate(signal: AbortSignal | undefined): Promise<void>
  /** What the prompt says of the servers whose tools are not declared. */
  section(): string | undefined
  call(name: string, ...call: ToolCall): ReturnType<ToolDefinition['execute']>
  /** Names that are not Tapline's. */
  taken(name: string): boolean
  /** Whether Tapline has registered a tool of this name. */
  isOwn(name: string): boolean
  close(): Promise<void>
}

/** What {@link createToolbox} takes. */
export interface ToolboxOptions {
  readonly pi: ExtensionAPI
  readonly paths: HostPaths
  /** What was registered before this session was there. */
  readonly early: EarlyTools
  readonly notices: Notices
  /** Told of each server when what is registered of its tools is what it offers. */
  onApplied(server: Server, tools: readonly string[]): void
}

/** A toolbox for one session. */
export function createToolbox(options: ToolboxOptions): Toolbox {
  return new SessionToolbox(options)
}

class SessionToolbox implements Toolbox {
  problems: readonly string[] = []
  readonly #options: ToolboxOptions
  readonly #registry: Registry
  readonly #resources: ResourceTools
  readonly #passes: Passes
  #memory: ToolMemory | undefined
  #tapline: Tapline | undefined
  #specs = new Map<string, ToolSpec>()
  #waiting: Promise<void> | undefined
  #directKnown = false
  #applied = false
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: ToolboxOptions) {
    this.#options = options
    this.#resources = createResourceTools({ ...options, cachedNames: options.early.names })
    this.#registry = createRegistry(
      options.pi,
      options.early,
      (name, ...call) => this.call(name, ...call),
      (name, thrown) => this.#sayFailed(`tool "${cleanText(name, 100)}" was not registered`, thrown),
    )
    this.#passes = createPasses({
      steps: () => this.#pass(),
      failed: (thrown) => this.#sayFailed('MCP tools could not be registered', thrown),
    })
  }

  toolsOf(server: string): readonly string[] {
    return [...this.#specs.values()].filter((spec) => spec.server.name === server).map(({ name }) => name)
  }

  use(tapline: Tapline): void {
    this.#tapline = tapline
    this.#resources.use(tapline)
    this.#memory = toolMemory(this.#options.paths, tapline, this.#options.early.instructions)
    for (const { spec } of tapline.servers) {
      const listing = spec.enabled ? this.#memory.listingOf(spec) : undefined
      if (listing) tapline.catalogue.setTools(spec.name, listing)
    }
    const unknown = tapline.servers.filter(
      ({ spec }) =>
        spec.enabled && exposuresOf(spec).has('direct') && !tapline.catalogue.listingOf(spec.name),
    )
    this.#directKnown = unknown.length === 0
    this.#waiting = this.#directKnown ? undefined : this.#waitFor(unknown)
    void this.applyNow()
  }

  changed(): void {
    if (this.#closed) return
    this.#timer ??= setTimeout(() => void this.applyNow(), GATHER_MS)
  }

  applyNow(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#passes.run()
  }

  /** Brings pi to what was known when it began. */
  *#pass(): Generator<void, void> {
    const tapline = this.#tapline
    if (!tapline || this.#closed) return
    const directKnown = this.#directKnown
    const listed = new Set(tapline.servers.filter((server) => server.listed))
    // Names are given when all have been heard, so that they do not depend on who was faster either.
    const list = yield* tapline.catalogue.steps({ provisional: !directKnown })
    if (!this.#applied || !directKnown || tapline.settings.apply !== 'next-session')
      yield* this.#offer(tapline, list, directKnown)
    if (tapline !== this.#tapline) return
    if (directKnown) this.#memory?.remember({ definitions: this.#registry.definitions(), list, listed })
    for (const server of tapline.servers) {
      if (directKnown || !exposuresOf(server.spec).has('direct'))
        this.#options.onApplied(server, this.toolsOf(server.spec.name))
    }
  }

  *#offer(tapline: Tapline, { tools, diagnostics }: ToolList, directKnown: boolean): Generator<void, void> {
    this.problems = diagnostics.map(({ message }) => message)
    for (const message of this.problems) this.#options.notices.say({ severity: 'warning', message })
    // With a cold cache the direct tools come all at once, so that their order does not depend on who was faster.
    const shown = (directKnown ? tools : tools.filter(({ exposure }) => exposure !== 'direct')).toSorted(
      (a, b) => Number(comesFromFactory(b)) - Number(comesFromFactory(a)),
    )
    for (const spec of shown) this.#sayRenamed(spec)
    this.#specs = new Map(shown.map((spec) => [spec.name, spec]))
    const words = new Map(tapline.servers.map(({ spec: { name } }) => [name, this.#instructionsOf(name)]))
    yield* this.#registry.apply(shown, (server) => words.get(server))
    this.#resources.apply(directKnown)
    this.#applied = true
  }

  async ready(signal: AbortSignal | undefined): Promise<void> {
    await unlessAborted(this.#declared(), signal)
    this.#registry.runStarts()
  }

  async upToDate(signal: AbortSignal | undefined): Promise<void> {
    await unlessAborted(this.#timer === undefined ? this.#passes.done() : this.applyNow(), signal)
  }

  section(): string | undefined {
    const enabled = (this.#tapline?.servers ?? []).filter(({ spec }) => spec.enabled)
    return serversSection(
      enabled.map(({ spec }) => ({
        name: spec.name,
        exposures: exposuresOf(spec),
        description: spec.description,
        instructions: this.#instructionsOf(spec.name),
      })),
    )
  }

  async call(name: string, ...call: ToolCall): ReturnType<ToolDefinition['execute']> {
    if (this.#resources.has(name)) return this.#resources.call(name, ...call)
    const [, params, signal, onUpdate] = call
    const spec = this.#specs.get(name)
    const server = this.#tapline?.server(spec?.server.name ?? this.#registry.serverOf(name) ?? '')
    if (server?.spec.enabled) assertReachable(server)
    if (!spec || !server?.spec.enabled) throw new Error(whyGone(name, server))
    const reads = (): boolean => this.#resources.reads(server)
    return callServer(server, spec, this.#options.paths.home, params, signal, onUpdate, reads)
  }

  taken(name: string): boolean {
    return this.#registry.taken(name) || this.#resources.has(name)
  }

  isOwn(name: string): boolean {
    return this.#registry.isOwn(name) || this.#resources.has(name)
  }

  async close(): Promise<void> {
    // What a short session has heard of its servers is remembered too.
    await settledWithin(LAST_PASS_MS, () => this.upToDate(undefined))
    this.#closed = true
    this.#passes.end()
    clearTimeout(this.#timer)
    await this.#memory?.close()
  }

  #instructionsOf(server: string): string | undefined {
    return this.#tapline?.server(server)?.session.status.instructions ?? this.#memory?.instructionsOf(server)
  }

  /** Another extension's tool keeps its name; ours is told apart, and the person is told. */
  #sayRenamed({ name, server, serverTool }: ToolSpec): void {
    const plain = toolName(server.naming, server.name, serverTool.name, () => false)
    if (name === plain || !this.#registry.takenByExtension(plain)) return
    const message = `tool "${cleanText(serverTool.name, 100)}" of server "${server.name}" is called "${name}": another extension has a tool named "${plain}".`
    this.#options.notices.say({ severity: 'warning', message })
  }

  #sayFailed(what: string, thrown: unknown): void {
    const message = `${what}: ${cleanText(messageOf(thrown), 200)}`
    this.#options.notices.say({ severity: 'warning', message })
  }

  /** All direct tools are registered, as far as they were waited for. */
  async #declared(): Promise<void> {
    await this.#waiting
    const servers = this.#tapline?.servers ?? []
    // What is only found or called by scripts holds no prompt up.
    if (servers.some(({ spec }) => spec.enabled && exposuresOf(spec).has('direct'))) await this.#passes.done()
  }

  async #waitFor(servers: readonly Server[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), LONGEST_WAIT_MS)
    })
    const outcome = await Promise.race([Promise.all(servers.map((server) => server.settled())), late])
    clearTimeout(timer)
    if (this.#closed) return
    if (outcome === 'late') {
      this.#options.notices.say({
        severity: 'warning',
        message: 'MCP servers are still connecting; their tools become available once connected.',
      })
    }
    this.#directKnown = true
    this.#waiting = undefined
    await this.applyNow()
  }
}
