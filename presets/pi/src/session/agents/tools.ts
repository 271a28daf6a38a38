import type { AgentSession, ToolDefinition } from '@earendil-works/pi-coding-agent'
import type { AgentTask, AgentTool, HostPaths, ToolSpec } from '@tapline/core'
import type { Server, Tapline } from '@tapline/headless'
import { callServer } from '../calls.ts'
import { definitionOf } from '../definition.ts'
import type { Toolbox } from '../toolbox.ts'
import type { Loan } from './lending.ts'
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
 * pi's read-only tools, the task's own, and those of the servers that are connected now. This session's have the names
 * that they have in the session, and are calls of its connections: no second client is opened. `session` is the
 * sub-agent's, once it exists.
 */
export function toolsFor(sdk: PiSdk, task: AgentTask, reach: Reach, session: () => AgentSession): AgentTools {
  const own = task.tools.map(ownTool)
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
  const { toolbox, paths } = shared
  const here = sharedTools(shared, task.cwd, loan).filter(({ spec }) => !taken.has(spec.name))
  const given = new Set([...taken, TOOL_SEARCH, ...here.map(({ spec }) => spec.name)])
  const lent = loan?.tools((name) => given.has(name) || toolbox.taken(name)) ?? []
  return [...here, ...lent.map((spec) => lentTool(spec, loan as Loan, paths.home))].filter(
    // pi reads a leading sign in an allow-list as a change of it.
    ({ spec }) => spec.exposure !== 'hidden' && !spec.name.startsWith('-'),
  )
}

/**
 * Tools of connected servers as the session has them. A project's servers are for runs in that project; where the
 * run's project has a server of the same name, that one is meant.
 */
function sharedTools(
  { tapline, toolbox, paths }: SharedTools,
  target: string,
  loan: Loan | undefined,
): readonly Offered[] {
  const isNear = tapline.projects.holds(paths.cwd, target)
  const offered = new Set(
    tapline.servers
      .filter(({ spec, session }) => spec.enabled && session.status.state === 'connected')
      .filter(({ spec }) => isNear || spec.source.scope !== 'project')
      .filter(({ spec }) => loan?.server(spec.name) === undefined)
      .flatMap(({ spec }) => toolbox.toolsOf(spec.name)),
  )
  return tapline.catalogue
    .list({ provisional: true })
    .tools.filter(({ name }) => offered.has(name))
    .map((spec) => ({
      spec,
      server: tapline.server(spec.server.name),
      call: (...call) => toolbox.call(spec.name, ...call),
    }))
}

/** Looked up at each call: trust may have been taken back since the run began. */
function lentTool(spec: ToolSpec, loan: Loan, home: string): Offered {
  return {
    spec,
    server: loan.server(spec.server.name),
    call: async (_id, params, signal, onUpdate) => {
      const server = loan.server(spec.server.name)
      if (!server?.spec.enabled) throw new Error(`MCP tool "${spec.name}" is no longer available.`)
      return callServer(server, spec, home, params, signal, onUpdate)
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
