import type { AgentSession, ToolDefinition } from '@earendil-works/pi-coding-agent'
import type { AgentTask, AgentTool, HostPaths, ToolSpec } from '@tapline/core'
import type { Tapline } from '@tapline/headless'
import { definitionOf } from '../definition.ts'
import { holds } from '../projects.ts'
import type { Toolbox } from '../toolbox.ts'
import type { PiSdk } from './running-copy.ts'

/** pi's tools that change nothing. A shell is not among them: nobody is there to say no. */
const READ_ONLY = ['read', 'grep', 'find', 'ls'] as const

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

/**
 * pi's read-only tools, the task's own, and those of the servers that are connected now, under the names that they
 * have in the session. They are calls of this session's connections: no second client is opened. `session` is the
 * sub-agent's, once it exists.
 */
export function toolsFor(
  sdk: PiSdk,
  task: AgentTask,
  shared: SharedTools | undefined,
  session: () => AgentSession,
): AgentTools {
  const own = task.tools.map(ownTool)
  const taken = new Set<string>([...READ_ONLY, ...own.map(({ name }) => name)])
  const specs = shared ? serverTools(shared, task.cwd).filter(({ name }) => !taken.has(name)) : []
  const searched = specs.length > MOST_DECLARED ? specs.filter(({ exposure }) => exposure !== 'direct') : []
  const search = searched.length > 0 ? [toolSearch(sdk, session)] : []
  const servers = specs.map((spec) => serverTool(spec, searched.includes(spec), shared as SharedTools))
  const custom = [...own, ...search, ...servers]
  const hidden = new Set(searched.map(({ name }) => name))
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

function serverTool(spec: ToolSpec, searched: boolean, { tapline, toolbox }: SharedTools): ToolDefinition {
  const { instructions } = tapline.server(spec.server.name)?.session.status ?? {}
  return {
    ...definitionOf(spec, instructions),
    exposure: searched ? 'deferred' : 'direct',
    execute: (...call) => toolbox.call(spec.name, ...call),
  }
}

/** Tools of connected servers as the session has them; a project's servers are for runs in that project. */
function serverTools({ tapline, toolbox, paths }: SharedTools, target: string): readonly ToolSpec[] {
  const near = holds(paths.cwd, target, paths.home)
  const offered = new Set(
    tapline.servers
      .filter(({ spec, session }) => spec.enabled && session.status.state === 'connected')
      .filter(({ spec }) => near || spec.source.scope !== 'project')
      .flatMap(({ spec }) => toolbox.toolsOf(spec.name)),
  )
  // pi reads a leading sign in an allow-list as a change of it.
  return tapline.catalogue
    .list({ provisional: true })
    .tools.filter(({ name, exposure }) => offered.has(name) && exposure !== 'hidden' && !name.startsWith('-'))
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
