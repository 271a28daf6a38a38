import type { AgentSession, ToolDefinition } from '@earendil-works/pi-coding-agent'
import type { AgentTask, AgentTool, Exposure, HostPaths, ServerSpec, ToolSpec } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { toolExposure } from '@tapline/tools'
import { callServer } from '../calls.ts'
import { definitionOf } from '../definition.ts'
import type { Toolbox } from '../toolbox.ts'
import type { Loan } from './lending.ts'
import { readsResourcesOf, resourceTools } from './resources.ts'
import type { PiSdk } from './running-copy.ts'

/** pi's tools that change nothing. A shell is not among them: nobody is there to say no. */
const READ_ONLY = ['read', 'grep', 'find', 'ls'] as const

/** What pi calls its tool that finds others. */
const TOOL_SEARCH = 'tool_search'

/** With more tools of servers than this, those that the session does not declare either are searched for. */
const MOST_DECLARED = 40

/** What a sub-agent may call. */
export interface AgentTools {
  /** Names of everything, for the allow-list: pi registers nothing else. */
  readonly allowed: readonly string[]
  /** Names of what is declared to the model from the start. */
  readonly declared: readonly string[]
  readonly custom: readonly ToolDefinition[]
}

/** The servers' tools that a sub-agent shares with this session, and how. */
export interface SharedTools {
  readonly tapline: Tapline
  readonly toolbox: Toolbox
  readonly paths: Pick<HostPaths, 'cwd' | 'home'>
}

/** What a sub-agent has of servers: this session's, and those of the project that it works in. */
export interface Reach {
  readonly shared: SharedTools | undefined
  readonly loan: Loan | undefined
}

/** A tool of a server that is connected, and what a call of it does. */
interface Offered {
  readonly spec: ToolSpec
  readonly server: Server | undefined
  readonly call: ToolDefinition['execute']
}

/**
 * pi's read-only tools, the task's own, and those of the servers that are connected now, with the tools that read their
 * resources. This session's have the names that they have in the session, and are calls of its connections: no second
 * client is opened. `session` is the sub-agent's, once it exists.
 */
export function toolsFor(sdk: PiSdk, task: AgentTask, reach: Reach, session: () => AgentSession): AgentTools {
  const ofTask = task.tools.map(ownTool)
  const reading = readingFor(task, reach).filter(({ name }) => !ofTask.some((tool) => tool.name === name))
  const own = [...ofTask, ...reading]
  const taken = new Set<string>([...READ_ONLY, ...own.map(({ name }) => name)])
  const offered = offeredTo(task, reach, taken)
  const isSearched = ({ spec }: Offered): boolean =>
    offered.length > MOST_DECLARED && spec.exposure !== 'direct'
  const hidden = new Set(offered.filter(isSearched).map(({ spec }) => spec.name))
  const search = hidden.size > 0 ? [toolSearch(sdk, session)] : []
  const custom = [...own, ...search, ...offered.map((tool) => serverTool(tool, isSearched(tool)))]
  const allowed = [...READ_ONLY, ...custom.map(({ name }) => name)]
  return { allowed, declared: allowed.filter((name) => !hidden.has(name)), custom }
}

function ownTool({ name, description, parameters, execute }: AgentTool): ToolDefinition {
  return {
    name,
    label: name,
    description,
    parameters,
    execute: async (_id, params) => {
      const text = await execute((params ?? {}) as Record<string, unknown>)
      return { content: [{ type: 'text', text }], details: undefined }
    },
  }
}

function serverTool({ spec, server, call }: Offered, isSearched: boolean): ToolDefinition {
  return {
    ...definitionOf(spec, server?.session.status.instructions),
    exposure: isSearched ? 'deferred' : 'direct',
    execute: call,
  }
}

/** The tools of servers, each under a name of its own. */
function offeredTo(task: AgentTask, { shared, loan }: Reach, taken: ReadonlySet<string>): readonly Offered[] {
  if (!shared) return []
  const { toolbox } = shared
  const here = sharedTools(shared, task.cwd, loan).filter(({ spec }) => !taken.has(spec.name))
  const given = new Set([...taken, TOOL_SEARCH, ...here.map(({ spec }) => spec.name)])
  const lent = loan?.tools((name) => given.has(name) || toolbox.taken(name)) ?? []
  return [...here, ...lent.map((spec) => lentTool(spec, loan as Loan, shared))].filter(
    // pi reads a leading sign in an allow-list as a change of it.
    ({ spec }) => spec.exposure !== 'hidden' && !spec.name.startsWith('-'),
  )
}

/** What reads the resources of those servers. */
function readingFor(task: AgentTask, { shared, loan }: Reach): readonly ToolDefinition[] {
  if (!shared) return []
  const reads = (server: Server, spec: ServerSpec): boolean => readsResourcesOf(server, spec, shared.tapline)
  const servers = (): readonly Server[] => [
    ...sharedServers(shared, task.cwd, loan).filter((server) => {
      return reads(server, loan?.override(server.spec.name) ?? server.spec)
    }),
    ...(loan?.servers ?? []).filter((server) => reads(server, server.spec)),
  ]
  return resourceTools({ ...shared, servers })
}

/**
 * Those servers of the session that are connected. A project's servers are for runs in that project; where the run's
 * project has a server of the same name, that one is meant, and where it has switched off the person's, that is so.
 */
function sharedServers(
  { tapline, paths }: SharedTools,
  target: string,
  loan: Loan | undefined,
): readonly Server[] {
  const isNear = tapline.projects.holds(paths.cwd, target)
  return tapline.servers
    .filter(({ spec, session }) => spec.enabled && session.status.state === 'connected')
    .filter(({ spec }) => isNear || spec.source.scope !== 'project')
    .filter(({ spec }) => loan?.server(spec.name) === undefined)
    .filter(({ spec }) => loan?.override(spec.name)?.enabled !== false)
}

/** Their tools, as the session has them, or as the run's project exposes them. */
function sharedTools(shared: SharedTools, target: string, loan: Loan | undefined): readonly Offered[] {
  const { tapline, toolbox } = shared
  const servers = new Map(sharedServers(shared, target, loan).map((server) => [server.spec.name, server]))
  const offered = new Set([...servers.keys()].flatMap((name) => toolbox.toolsOf(name)))
  return tapline.catalogue.list({ provisional: true }).tools.flatMap((spec): Offered[] => {
    const server = servers.get(spec.server.name)
    const override = loan?.override(spec.server.name)
    if (server && override) {
      const exposure = exposureThere(spec, server, override)
      return [sharedTool({ ...spec, exposure }, server, override, shared)]
    }
    if (!offered.has(spec.name)) return []
    return [{ spec, server, call: (...call) => toolbox.call(spec.name, ...call) }]
  })
}

/** What a plugin has made of it stays so: a project's file says nothing of that. */
function exposureThere({ exposure, serverTool }: ToolSpec, { spec }: Server, override: ServerSpec): Exposure {
  const isOfPlugin = exposure !== toolExposure(spec, serverTool.name)
  return isOfPlugin ? exposure : toolExposure(override, serverTool.name)
}

/** One that the session itself may not have declared. */
function sharedTool(
  spec: ToolSpec,
  server: Server,
  override: ServerSpec,
  { tapline, paths }: SharedTools,
): Offered {
  const reads = (): boolean => readsResourcesOf(server, override, tapline)
  return {
    spec,
    server,
    call: async (_id, params, signal, onUpdate) => {
      if (tapline.server(spec.server.name) !== server || !server.spec.enabled)
        throw new Error(`MCP tool "${spec.name}" is no longer available.`)
      return callServer(server, spec, paths.home, params, signal, onUpdate, reads)
    },
  }
}

/** Looked up at each call: trust may have been taken back since the run began. */
function lentTool(spec: ToolSpec, loan: Loan, { tapline, paths }: SharedTools): Offered {
  return {
    spec,
    server: loan.server(spec.server.name),
    call: async (_id, params, signal, onUpdate) => {
      const server = loan.server(spec.server.name)
      if (!server?.spec.enabled) throw new Error(`MCP tool "${spec.name}" is no longer available.`)
      const reads = (): boolean => readsResourcesOf(server, server.spec, tapline)
      return callServer(server, spec, paths.home, params, signal, onUpdate, reads)
    },
  }
}

/** pi's own tool search, of which all it needs of an extension is a place for its tool and the tools of its session. */
function toolSearch(sdk: PiSdk, session: () => AgentSession): ToolDefinition {
  let found: ToolDefinition | undefined
  const extension = {
    registerTool: (tool: ToolDefinition) => void (found = tool),
    getActiveTools: () => session().getActiveToolNames(),
    getAllTools: () => session().getAllTools(),
    setActiveTools: (names: string[]) => session().setActiveToolsByName(names),
  }
  void sdk.createToolSearchExtension()(
    extension as unknown as Parameters<ReturnType<PiSdk['createToolSearchExtension']>>[0],
  )
  if (!found) throw new Error('this version of pi has no tool search')
  return { ...found, defaultActive: true }
}
