import { EventEmitter, once } from 'node:events'
import type { PushCounts, ServerSpec, ServerTool, SessionStatus, ToolSpec, TriggerEvent } from '@tapline/core'
import type { Server } from '@tapline/headless'
import { createPromptBook, type PromptBook } from '@tapline/prompts'
import type { CommandScope } from '../../../src/session/commands/command.ts'
import { createListPage } from '../../../src/session/servers/list/page.ts'
import type { Page } from '../../../src/session/servers/page.ts'
import { ServersPanel } from '../../../src/session/servers/panel.ts'
import type { Note } from '../../../src/session/servers/work.ts'
import { KEYS, piKeys, plain, theme } from '../screen/pi-terminal.ts'

export const PATHS = {
  cwd: '/home/me/app',
  home: '/home/me',
  agentDir: '/home/me/.pi/agent',
  loopsDir: '/loops',
}

/** What a test says of a server; the rest is as it mostly is. */
export interface Told {
  readonly spec?: Partial<ServerSpec>
  readonly status?: Partial<SessionStatus>
  readonly tools?: readonly ServerTool[]
  readonly listed?: boolean
  readonly listError?: string
  request?(method: string, params: unknown, signal: AbortSignal | undefined): Promise<unknown>
  reconnect?(): Promise<void>
}

/** A server that is connected, of the user's mcp.json. */
export function server(name: string, told: Told = {}): Server & { told: Told } {
  const made = {
    told,
    spec: {
      name,
      dialect: 'mcp.json',
      source: { label: '~/.pi/agent/mcp.json', scope: 'user', path: '/home/me/.pi/agent/mcp.json', line: 3 },
      enabled: true,
      transport: { type: 'stdio', command: 'node', args: ['server.mjs'], env: {}, inheritEnv: true },
      requestTimeoutMs: 60_000,
      reconnect: { initialMs: 1_000, maxMs: 60_000, maxAttempts: 20 },
      naming: 'mcp',
      exposure: 'codemode',
      toolExposure: {},
      results: { maxBytes: 20_480, overflow: 'temporary-file' },
      push: {},
      ...told.spec,
    } satisfies ServerSpec as ServerSpec,
    session: {
      get status(): SessionStatus {
        const { state = 'connected' } = told.status ?? {}
        const spoken = state === 'connected' ? { era: 'legacy' as const, protocolVersion: '2025-11-25' } : {}
        return { state, attempt: 1, report: {}, ...spoken, ...told.status }
      },
      request: (method: string, params: unknown, options?: { signal?: AbortSignal }) =>
        told.request?.(method, params, options?.signal) ?? Promise.reject(new Error('not asked for')),
      reconnect: () => told.reconnect?.() ?? Promise.resolve(),
    },
    listed: told.listed ?? true,
    listError: told.listError,
    settled: () => Promise.resolve(),
  }
  return made as unknown as Server & { told: Told }
}

/** The books of a server, as a test wants them to be. */
export interface Book extends PushCounts {
  readonly counts: PushCounts
  readonly recent: readonly TriggerEvent[]
  readonly lastEventAt?: number
  readonly lastError?: string
}

/** Empty books but for this. */
export function book(fields: Partial<Omit<Book, 'counts'>> = {}): Book {
  const counts: PushCounts = {
    received: 0,
    delivered: 0,
    redirected: 0,
    deduped: 0,
    collapsed: 0,
    dropped: 0,
    pending: 0,
    handled: 0,
    ...fields,
  }
  return { recent: [], ...fields, ...counts, counts }
}

/** Lists prompts of a server, as this answers. */
export function listPrompts(book: PromptBook, name: string, answer: () => unknown): Promise<unknown> {
  const request = async (): Promise<unknown> => answer()
  return book.refresh({ name, capabilities: { prompts: {} }, request })
}

/** A tool as a server lists it. */
export function tool(name: string, more: Partial<ServerTool> = {}): ServerTool {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more }
}

/** What commands work on, with these servers; fields are replaced by tests. */
export interface Scope {
  servers: Server[]
  diagnostics: { severity: 'error' | 'warning' | 'info'; message: string }[]
  problems: string[]
  readonly books: Map<string, Book>
  /** Every change that was asked for. */
  readonly changes: unknown[]
  change(...change: unknown[]): Promise<{ savedTo?: string }>
  signIns: unknown
  /** What the plugin "prompts" knows; undefined where it is not loaded. */
  prompts: PromptBook | undefined
  paths: typeof PATHS
}

export function scopeOf(servers: Server[], more: Partial<Scope> = {}): Scope {
  return {
    servers,
    diagnostics: [],
    problems: [],
    books: new Map(),
    changes: [],
    change: () => Promise.resolve({ savedTo: '/home/me/.pi/agent/mcp.json' }),
    signIns: undefined,
    prompts: createPromptBook(),
    paths: PATHS,
    ...more,
  }
}

export function asCommandScope(scope: Scope): CommandScope {
  const specs = (): ToolSpec[] =>
    scope.servers.flatMap((made) =>
      ((made as { told?: Told }).told?.tools ?? []).map((serverTool): ToolSpec => {
        const exposure = made.spec.toolExposure[serverTool.name] ?? made.spec.exposure
        const parameters = serverTool.inputSchema as ToolSpec['parameters']
        const { annotations, outputSchema } = serverTool
        return {
          name: `mcp__${made.spec.name}__${serverTool.name}`,
          server: made.spec,
          serverTool,
          label: serverTool.name,
          description: serverTool.description ?? '',
          parameters,
          ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as ToolSpec['parameters'] }),
          ...(annotations ? { annotations } : {}),
          exposure,
          ...(serverTool.title === 'broken' ? { hidden: 'its input schema cannot be used' } : {}),
        }
      }),
    )
  const listings = new WeakMap<object, object>()
  const tapline = {
    get servers() {
      return scope.servers
    },
    get diagnostics() {
      return scope.diagnostics
    },
    server: (name: string) => scope.servers.find(({ spec }) => spec.name === name),
    catalogue: {
      listingOf: (name: string) => {
        const { tools } =
          (scope.servers.find(({ spec }) => spec.name === name) as { told?: Told } | undefined)?.told ?? {}
        if (!tools) return undefined
        if (!listings.has(tools)) listings.set(tools, { tools, problems: [] })
        return listings.get(tools)
      },
      list: () => ({
        tools: specs().filter(({ hidden }) => hidden === undefined),
        setAside: specs().filter(({ hidden }) => hidden !== undefined),
        diagnostics: [],
      }),
    },
    pipeline: {
      book: (name: string) => scope.books.get(name) ?? book(),
    },
    get services() {
      const { signIns, prompts } = scope
      return { signIns, ...(prompts ? { prompts: { book: prompts } } : {}) }
    },
    change: (...change: unknown[]) => {
      scope.changes.push(change)
      return scope.change(...change)
    },
  }
  return {
    tapline,
    toolbox: {
      get problems() {
        return scope.problems
      },
      toolsOf: (name: string) =>
        specs()
          .filter((spec) => spec.server.name === name && !spec.hidden)
          .map((spec) => spec.name),
      applyNow: () => Promise.resolve(),
      changed: () => undefined,
    },
    paths: scope.paths,
    reloaded: () => undefined,
  } as unknown as CommandScope
}

/** The panel in a terminal, as somebody uses it. */
export interface Shown {
  readonly panel: ServersPanel
  /** What came of things after the panel was left. */
  readonly told: Note[]
  /** What was written past pi. */
  readonly written: string[]
  isDone(): boolean
  /** The lines as they are now, without colours. */
  lines(width?: number, height?: number): string[]
  raw(width?: number, height?: number): string[]
  press(...keys: (keyof typeof KEYS)[]): void
  type(...letters: string[]): void
  /** Resolves with the first lines that match. */
  until(match: RegExp): Promise<string[]>
}

export function show(
  scope: Scope,
  options: { trusted?: boolean; page?: (panel: ServersPanel) => Page } = {},
): Shown {
  const told: Note[] = []
  const written: string[] = []
  const drawn = new EventEmitter()
  let height = 40
  let done = false
  const screen = {
    theme,
    keybindings: piKeys(),
    rows: () => height,
    requestRender: () => void drawn.emit('render'),
    write: (sequence: string) => void written.push(sequence),
    done: () => (done = true),
  }
  const ctx = { isProjectTrusted: () => options.trusted ?? true }
  const panel = new ServersPanel(asCommandScope(scope), screen, ctx, (note) => told.push(note))
  panel.open(options.page?.(panel) ?? createListPage(panel))
  const raw = (width = 80, rows = 40): string[] => {
    height = rows
    return panel.render(width)
  }
  const lines = (width?: number, rows?: number): string[] =>
    raw(width, rows).map((text) => plain(text).trimEnd())
  return {
    panel,
    told,
    written,
    isDone: () => done,
    lines,
    raw,
    press: (...keys) => keys.forEach((key) => panel.handle(KEYS[key])),
    type: (...letters) => letters.forEach((letter) => panel.handle(letter)),
    until: async (match) => {
      for (;;) {
        const now = lines()
        if (match.test(now.join('\n'))) return now
        await once(drawn, 'render', { signal: AbortSignal.timeout(5_000) })
      }
    },
  }
}
