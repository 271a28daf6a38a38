import type { ExtensionAPI, ToolDefinition } from '@earendil-works/pi-coding-agent'
import type { HostPaths } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import type { Resources, ResourceTool } from '@tapline/resources'
import type { CachedTool } from '../../cached-tools.ts'
import type { Notices } from '../notices.ts'
import { hasProjectFiles } from '../tool-memory.ts'
import { callResourceTool } from './call.ts'
import { type ResourceMemory, resourceMemory } from './memory.ts'

type ToolCall = Parameters<ToolDefinition['execute']>
type Exposure = NonNullable<ReturnType<Resources['exposure']>> | 'hidden'

/** The tools by which the model reads what servers offer as resources, as they stand in one pi session. */
export interface ResourceTools {
  /** Follows the servers of this Tapline from now on. */
  use(tapline: Tapline): void
  /**
   * Registers them as widely as the widest of the servers that they reach, and hides them when there is none. Direct
   * ones wait until every direct tool is known: what the model is told changes once.
   */
  apply(directKnown: boolean): void
  call(name: string, ...call: ToolCall): ReturnType<ToolDefinition['execute']>
  /** Whether the model can read this server's resources with them. */
  reads(server: Server): boolean
  /** Whether a tool of this name is one of them, or may become one. */
  has(name: string): boolean
}

/** What {@link createResourceTools} takes. */
export interface ResourceToolsOptions {
  readonly pi: ExtensionAPI
  readonly paths: HostPaths
  readonly notices: Notices
  /** Tools of Tapline that were registered before this session. */
  readonly cachedNames: ReadonlySet<string>
}

/** The resource tools of one session. */
export function createResourceTools(options: ResourceToolsOptions): ResourceTools {
  return new SessionResourceTools(options)
}

class SessionResourceTools implements ResourceTools {
  readonly #options: ResourceToolsOptions
  /** Whether a server has said that it offers resources; one that is away for a while still does. */
  readonly #offering = new WeakMap<Server, boolean>()
  #tapline: Tapline | undefined
  #memory: ResourceMemory | undefined
  #exposure: Exposure | undefined
  /** What the next session was last told of, and for which servers. */
  #noted: { readonly direct: boolean; readonly servers: readonly Server[] } | undefined
  /** Those whose names nobody else has, once that is known. */
  #own: readonly ResourceTool[] | undefined

  constructor(options: ResourceToolsOptions) {
    this.#options = options
  }

  use(tapline: Tapline): void {
    const { paths, cachedNames } = this.#options
    this.#tapline = tapline
    this.#memory = resourceMemory(paths.agentDir, tapline.kernel.plugins)
    const { early } = this.#memory
    if (this.#own !== undefined || !early.some(({ name }) => cachedNames.has(name))) return
    this.#own = this.#withFreeNames()
    // Registered before this session, and word for word what it would register itself.
    if (JSON.stringify(early) === JSON.stringify(this.#definitions('direct'))) this.#exposure = 'direct'
  }

  has(name: string): boolean {
    return (this.#own ?? this.#resources?.tools ?? []).some((tool) => tool.name === name)
  }

  reads(server: Server): boolean {
    const isOwn = this.#own?.some(({ name }) => name === 'read_mcp_resource') === true
    return isOwn && this.#reached().includes(server)
  }

  apply(directKnown: boolean): void {
    const reached = this.#reached()
    this.#register(this.#widest(reached), directKnown)
    this.#noteEarly(reached)
  }

  async call(name: string, ...[, params, signal]: ToolCall): ReturnType<ToolDefinition['execute']> {
    const tapline = this.#tapline
    const tool = this.#resources?.tools.find((candidate) => candidate.name === name)
    if (!tapline || !tool) throw new Error(`MCP tool "${name}" is no longer available.`)
    const { home } = this.#options.paths
    return callResourceTool({ tool, params, signal, tapline, home, reached: () => this.#reached() })
  }

  get #resources(): Resources | undefined {
    return this.#tapline?.services.resources
  }

  #register(exposure: Exposure, directKnown: boolean): void {
    const earlier = this.#exposure
    if (exposure === earlier || (earlier === undefined && exposure === 'hidden' && !this.#own)) return
    if (exposure === 'direct' && !directKnown) return
    const { cachedNames } = this.#options
    this.#own ??= this.#withFreeNames()
    this.#exposure = exposure
    const wasDirect =
      earlier === undefined ? this.#own.some(({ name }) => cachedNames.has(name)) : earlier === 'direct'
    // pi declares a new direct tool by itself, and takes one back when it is hidden.
    if (wasDirect && exposure !== 'direct') this.#registerAs('hidden')
    this.#registerAs(exposure)
  }

  #registerAs(exposure: Exposure): void {
    for (const definition of this.#definitions(exposure)) {
      const execute: ToolDefinition['execute'] = (...call) => this.call(definition.name, ...call)
      this.#options.pi.registerTool({ ...definition, execute })
    }
  }

  #definitions(exposure: Exposure): readonly CachedTool[] {
    const shown = exposure === 'codemode' ? 'deferred' : exposure
    return (this.#own ?? []).map((tool) => ({ ...tool, exposure: shown }))
  }

  #widest(servers: readonly Server[]): Exposure {
    return this.#resources?.exposure(servers.map(({ spec }) => spec.exposure)) ?? 'hidden'
  }

  #withFreeNames(): readonly ResourceTool[] {
    const { pi, notices, cachedNames } = this.#options
    const names = pi.getAllTools().map(({ name }) => name)
    const taken = new Set(names.filter((name) => !cachedNames.has(name)))
    const tools = this.#resources?.tools ?? []
    const theirs = tools.flatMap(({ name }) => (taken.has(name) ? [name] : []))
    if (theirs.length > 0) {
      const message = `another extension has tools named ${theirs.join(', ')}: they are left alone, and Tapline's own are not offered to the model.`
      notices.say({ severity: 'warning', message })
    }
    return tools.filter(({ name }) => !taken.has(name))
  }

  /** The servers that the tools reach. */
  #reached(): readonly Server[] {
    return (this.#tapline?.servers ?? []).filter((server) => {
      const { enabled, exposure } = server.spec
      return enabled && exposure !== 'hidden' && this.#offers(server)
    })
  }

  #offers(server: Server): boolean {
    const { state, capabilities } = server.session.status
    if (state !== 'connected')
      return this.#offering.get(server) ?? this.#memory?.offered(server.spec) === true
    const offers = capabilities?.['resources'] !== undefined
    if (this.#offering.get(server) !== offers) this.#memory?.note(server.spec, offers)
    this.#offering.set(server, offers)
    return offers
  }

  /** What the user's servers of mcp.json alone make of the tools, which the next session may know before it begins. */
  #noteEarly(reached: readonly Server[]): void {
    const early = reached.filter(({ spec }) => spec.dialect === 'mcp.json' && spec.source.scope === 'user')
    const direct = this.#widest(early) === 'direct' && this.#own !== undefined
    const { servers } = this.#tapline ?? {}
    if (!servers || (this.#noted?.direct === direct && this.#noted.servers === servers)) return
    this.#noted = { direct, servers }
    const { agentDir, cwd } = this.#options.paths
    // Under a project's files the user's servers may be others.
    if (hasProjectFiles(agentDir, cwd)) return
    this.#memory?.noteEarly(direct ? this.#definitions('direct') : undefined)
  }
}
