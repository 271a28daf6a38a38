import type { ExtensionAPI, ToolDefinition } from '@earendil-works/pi-coding-agent'
import { isTaplineError } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import type { ResourceAnswer, Resources, ResourceServer, ResourceTool } from '@tapline/resources'
import { limitContent, type ModelContent, saveOutput, toModelResult } from '@tapline/tools'
import type { Notices } from './notices.ts'
import { unsettled } from './reach.ts'

/** What a list may show to the model in bytes, as pi has it, whichever servers it is of. */
const MOST_LISTED = 20 * 1_024

type Execute = ToolDefinition['execute']
type JsonContent = NonNullable<Awaited<ReturnType<Execute>>['structuredContent']>

/** The tools by which the model reads what servers offer as resources, as they stand in one pi session. */
export interface ResourceTools {
  /** Follows the servers of this Tapline from now on. */
  use(tapline: Tapline): void
  /**
   * Registers them as widely as the widest of the servers that they reach, and hides them when there is none. Direct
   * ones wait until every direct tool is known: what the model is told changes once.
   */
  apply(directKnown: boolean): void
  /** Whether the model can read this server's resources with them. */
  reads(server: Server): boolean
  /** Whether a tool of this name is one of them, or may become one. */
  has(name: string): boolean
}

/** What {@link createResourceTools} takes. */
export interface ResourceToolsOptions {
  readonly pi: ExtensionAPI
  /** The home directory. */
  readonly home: string
  readonly notices: Notices
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
  #exposure: ReturnType<Resources['exposure']> | 'hidden'
  /** Those whose names nobody else has. */
  #own: readonly ResourceTool[] | undefined

  constructor(options: ResourceToolsOptions) {
    this.#options = options
  }

  use(tapline: Tapline): void {
    this.#tapline = tapline
  }

  has(name: string): boolean {
    const tools = this.#own ?? this.#resources?.tools ?? []
    return tools.some((tool) => tool.name === name)
  }

  reads(server: Server): boolean {
    return (
      this.#own?.some(({ name }) => name === 'read_mcp_resource') === true && this.#reached().includes(server)
    )
  }

  apply(directKnown: boolean): void {
    const widest = this.#resources?.exposure(this.#reached().map(({ spec }) => spec.exposure))
    const exposure = widest ?? 'hidden'
    const earlier = this.#exposure
    if (exposure === earlier || (earlier === undefined && exposure === 'hidden')) return
    if (exposure === 'direct' && !directKnown) return
    this.#exposure = exposure
    const { pi } = this.#options
    this.#own ??= this.#withFreeNames()
    for (const tool of this.#own) {
      pi.registerTool({
        ...tool,
        exposure: exposure === 'codemode' ? 'deferred' : exposure,
        execute: (...[, params, signal]) => this.#call(tool, params, signal),
      })
    }
    // pi makes a direct tool active, and leaves it so.
    if (earlier === 'direct') pi.setActiveTools(pi.getActiveTools().filter((name) => !this.has(name)))
  }

  get #resources(): Resources | undefined {
    return this.#tapline?.services.resources
  }

  #withFreeNames(): readonly ResourceTool[] {
    const { pi, notices } = this.#options
    const taken = new Set(pi.getAllTools().map(({ name }) => name))
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
    const servers = this.#tapline?.servers ?? []
    return servers.filter((server) => {
      const { state, capabilities } = server.session.status
      if (state === 'connected') this.#offering.set(server, capabilities?.['resources'] !== undefined)
      const { enabled, exposure } = server.spec
      return enabled && exposure !== 'hidden' && this.#offering.get(server) === true
    })
  }

  async #call(tool: ResourceTool, params: unknown, signal: AbortSignal | undefined): ReturnType<Execute> {
    const tapline = this.#tapline
    const resources = this.#resources
    if (!tapline || !resources) throw new Error(`MCP tool "${tool.name}" is no longer available.`)
    await Promise.all(concerned(tapline, params).map((server) => server.settled(signal)))
    try {
      const answer = await resources.call(tool.name, params, {
        servers: this.#reached().map(asSource),
        signal,
      })
      const server = tool.name === 'read_mcp_resource' ? tapline.server(answer.server) : undefined
      const { content, fullOutputPath } = await this.#shown(tool, answer, server)
      return {
        content: [...content],
        details: {
          server: answer.server,
          tool: tool.name,
          ...(fullOutputPath === undefined ? {} : { fullOutputPath }),
        },
        // It came as JSON, which its type does not say.
        structuredContent: answer.structuredContent as JsonContent,
      }
    } catch (thrown) {
      if (isTaplineError(thrown) && thrown.code === 'CANCELLED')
        throw new Error('cancelled', { cause: thrown })
      throw thrown
    }
  }

  /** What is read is limited as the server's other results are; lists are text of ours. */
  async #shown(
    { name }: ResourceTool,
    { content }: ResourceAnswer,
    server: Server | undefined,
  ): Promise<{ readonly content: readonly ModelContent[]; readonly fullOutputPath?: string }> {
    const { home } = this.#options
    if (!server) {
      const saveFile = saveOutput('temporary-file', { home })
      const texts = content as readonly ModelContent[]
      return limitContent(texts, { maxBytes: MOST_LISTED, hard: false, saveFile })
    }
    const { spec } = server
    const saveFile = saveOutput(spec.results.overflow, { home })
    const result = { content: [...content] }
    const shown = await toModelResult(
      result,
      { server: spec, serverTool: { name, inputSchema: {} } },
      { saveFile },
    )
    return { content: shown.content, ...shown.details }
  }
}

/** The servers that this call has to wait for: the one that it names, else all. */
function concerned({ servers }: Tapline, params: unknown): readonly Server[] {
  const named: unknown = (params as { readonly server?: unknown } | null | undefined)?.server
  const one = servers.filter(({ spec }) => typeof named === 'string' && spec.name === named.trim())
  return unsettled((one.length > 0 ? one : servers).filter(({ spec }) => spec.enabled))
}

function asSource({ spec, session }: Server): ResourceServer {
  return {
    name: spec.name,
    request: (method, params, signal) => session.request(method, params, signal ? { signal } : {}),
  }
}
