import type { Diagnostic, Hooks, ServerSpec, ServerTool, Session, ToolSpec } from '@tapline/core'
import { type Clock, createFlights } from './flights.ts'
import { listAllTools, type ToolListing } from './listing.ts'
import { contestedNames, TOOL_NAME } from './naming.ts'
import { byCodeUnits, isRecord } from './order.ts'
import { cleanLine } from './text.ts'

/** What {@link createCatalogue} takes. */
export interface CatalogueOptions {
  /** The kernel's hook: `kernel.hooks.registerTool`. */
  readonly registerTool: Pick<Hooks['registerTool'], 'call'>
  /** Whether a tool that is not Tapline's has this name. Asked only for names that the catalogue has not given. */
  taken?(name: string): boolean
  /** Names given before, for example in the extension's factory: they stay with their tools. */
  readonly given?: readonly GivenName[]
  /** Told after a server's list has changed. */
  onChange?(server: string): void
  /** For tests. */
  readonly clock?: Clock
}

/** A name and whose it is. */
export interface GivenName {
  readonly name: string
  readonly server: string
  readonly tool: string
}

/** All tools at one moment. */
export interface ToolList {
  /** In the order of their names. */
  readonly tools: readonly ToolSpec[]
  /** Not offered: each has its reason in `hidden`. */
  readonly setAside: readonly ToolSpec[]
  readonly diagnostics: readonly Diagnostic[]
}

/** How a list is made. */
export interface ListMode {
  /** Taken before all servers have been heard: gives no names away. */
  readonly provisional?: boolean
}

/** The tools of all servers of one session. */
export interface Catalogue {
  /** Which servers there are, those first whose names win. Lists of servers that are not among them are forgotten. */
  setServers(servers: readonly ServerSpec[]): void
  /** What a server offers: from its cache entry, or listed by somebody else. Answers whether that is news. */
  setTools(server: string, listing: ToolListing): boolean
  /** Lists a server's tools anew. Any burst of calls costs at most two lists. Rejects when the list could not be had; the old one stays. */
  refresh(session: Pick<Session, 'listTools' | 'server'>): Promise<ToolListing>
  /**
   * The whole list: equal servers with equal tools give an equal list, in whatever order the tools came.
   * A name, once given, stays with its tool as long as the catalogue lives.
   */
  list(options?: ListMode): ToolList
  /**
   * {@link list} in steps of one tool, for whoever must not stand still for thousands: the list as it was when the
   * first step was made. Names that were given stay given when it is left unfinished.
   */
  steps(options?: ListMode): Generator<void, ToolList>
  /** What a server offered last, as it was sent. */
  listingOf(server: string): ToolListing | undefined
  /** Ends waiting refreshes. */
  close(): void
}

const MOST_DIAGNOSTICS = 10
const LONGEST_REASON = 300
const NO_TOOL = 'a plugin answered something that is not a tool'

/** One catalogue for each kernel. */
export function createCatalogue(options: CatalogueOptions): Catalogue {
  const { registerTool } = options
  const owners = new Map((options.given ?? []).map(({ name, server, tool }) => [name, ownerOf(server, tool)]))
  const flights = createFlights<ToolListing>(options.clock)
  const sessions = new Map<string, unknown>()
  const listings = new Map<string, ToolListing>()
  let servers: readonly ServerSpec[] = []

  const setTools = (server: string, listing: ToolListing): boolean => {
    const before = listings.get(server)
    const next = reconciled(before, listing)
    if (next === before) return false
    listings.set(server, next)
    options.onChange?.(server)
    return true
  }

  /** A tool on its way through the hook, and out of it with a name of its own or a reason. */
  const offer = (
    server: ServerSpec,
    serverTool: ServerTool,
    contested: (tool: string, name: string) => boolean,
    given: Map<string, string>,
  ): ToolSpec => {
    const owner = ownerOf(server.name, serverTool.name)
    const taken = (name: string): boolean => {
      const holder = given.get(name)
      if (holder === undefined ? options.taken?.(name) === true : holder !== owner) return true
      return contested(serverTool.name, name)
    }
    const sent = asSent(server, serverTool)
    let answer: unknown
    try {
      answer = registerTool.call(sent, { taken }) ?? sent
    } catch (thrown) {
      return {
        ...sent,
        hidden: cleanLine(thrown instanceof Error ? thrown.message : String(thrown), LONGEST_REASON),
      }
    }
    // Where a call goes is nothing that a plugin changes.
    const tool = { ...(isRecord(answer) ? answer : {}), server, serverTool } as unknown as ToolSpec
    const reason = refusal(tool, taken)
    if (reason !== undefined) return { ...sent, hidden: cleanLine(reason, LONGEST_REASON) }
    given.set(tool.name, owner)
    return tool
  }

  function* steps({ provisional = false }: ListMode = {}): Generator<void, ToolList> {
    const given = provisional ? new Map(owners) : owners
    const offering = servers.map((server) => ({ server, listing: listings.get(server.name) }))
    const all: ToolSpec[] = []
    for (const { server, listing } of offering) {
      const offered = (listing?.tools ?? []).toSorted((a, b) => byCodeUnits(a.name, b.name))
      const names = offered.map(({ name }) => name)
      const contested = contestedNames(server.naming, server.name, names)
      for (const tool of offered) {
        all.push(offer(server, tool, contested, given))
        yield
      }
    }
    const tools = all.filter((tool) => tool.hidden === undefined).sort((a, b) => byCodeUnits(a.name, b.name))
    const setAside = all.filter((tool) => tool.hidden !== undefined)
    return {
      tools,
      setAside,
      diagnostics: offering.flatMap(({ server, listing }) => diagnose(server, listing, setAside)),
    }
  }

  return {
    setServers: (next) => {
      servers = next.filter((server) => server.enabled)
      const names = new Set(servers.map((server) => server.name))
      for (const name of listings.keys()) if (!names.has(name)) listings.delete(name)
      for (const name of sessions.keys()) if (!names.has(name)) sessions.delete(name)
    },
    setTools,
    refresh: (session) => {
      const { name } = session.server
      sessions.set(name, session)
      return flights.run(name, async () => {
        const listing = await listAllTools(session)
        // A session that was replaced or taken away meanwhile has no say any more.
        if (sessions.get(name) === session) setTools(name, listing)
        return listing
      })
    },
    list: (mode) => {
      const making = steps(mode)
      let step = making.next()
      while (!step.done) step = making.next()
      return step.value
    },
    steps,
    listingOf: (server) => listings.get(server),
    close: () => flights.close(),
  }
}

function ownerOf(server: string, tool: string): string {
  return `${server}\0${tool}`
}

/** Why a tool is not offered: it was set aside, or cannot be offered all the same. */
function refusal(tool: ToolSpec, taken: (name: string) => boolean): string | undefined {
  const { name, label, description, parameters, hidden } = tool
  if (hidden !== undefined) return typeof hidden === 'string' ? hidden : NO_TOOL
  if ([name, label, description].some((text) => typeof text !== 'string') || !isRecord(parameters))
    return NO_TOOL
  if (!EXPOSURES.has(tool.exposure)) return NO_TOOL
  if (!isJson(tool)) return 'it cannot be written as JSON'
  if (!TOOL_NAME.test(name)) return `no model accepts its name "${cleanLine(name, 100)}"`
  return taken(name) ? `another tool already has the name "${name}"` : undefined
}

const EXPOSURES: ReadonlySet<unknown> = new Set(['direct', 'deferred', 'codemode', 'hidden'])

/** Whether everything of it that is registered can be written down. */
function isJson({ parameters, outputSchema, annotations }: ToolSpec): boolean {
  try {
    JSON.stringify([parameters, outputSchema, annotations])
    return true
  } catch {
    return false
  }
}

/** Untrusted in every field: the taps make a tool of it. */
function asSent(server: ServerSpec, serverTool: ServerTool): ToolSpec {
  const { name, description = '', inputSchema = {}, outputSchema, annotations } = serverTool
  return {
    name,
    server,
    serverTool,
    label: name,
    description,
    parameters: inputSchema as ToolSpec['parameters'],
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as ToolSpec['parameters'] }),
    ...(annotations ? { annotations } : {}),
    exposure: server.exposure,
  }
}

/** `next`, with the objects of `before` wherever nothing has changed; `before` itself when nothing has at all. */
function reconciled(before: ToolListing | undefined, next: ToolListing): ToolListing {
  if (before === undefined) return next
  const known = new Map(before.tools.map((tool) => [tool.name, tool]))
  const tools = next.tools.map((tool) => {
    const old = known.get(tool.name)
    return old !== undefined && JSON.stringify(old) === JSON.stringify(tool) ? old : tool
  })
  const same = tools.length === before.tools.length && tools.every((tool) => known.get(tool.name) === tool)
  return same && before.problems.join() === next.problems.join() ? before : { tools, problems: next.problems }
}

function diagnose(
  server: ServerSpec,
  listing: ToolListing | undefined,
  setAside: readonly ToolSpec[],
): readonly Diagnostic[] {
  const hidden = setAside.filter((tool) => tool.server.name === server.name)
  const messages = [
    ...(listing?.problems ?? []).map((problem) => `Server "${server.name}": ${problem}`),
    ...hidden.map(
      (tool) =>
        `Tool "${cleanLine(tool.serverTool.name, 100)}" of server "${server.name}" is not offered: ${tool.hidden}.`,
    ),
  ]
  const shown = messages.slice(0, MOST_DIAGNOSTICS)
  if (messages.length > shown.length)
    shown.push(`Server "${server.name}": ${messages.length - shown.length} more of this kind.`)
  return shown.map((message) => ({ severity: 'warning', message, server: server.name }))
}
