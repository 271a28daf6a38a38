import type {
  ExtensionAPI,
  ExtensionContext,
  ToolDefinition,
  ToolRenderers,
} from '@earendil-works/pi-coding-agent'

/** Those that read resources belong to no server, and are called by their names. */
const RESOURCE_TOOLS = new Set(['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource'])

type Registered = ToolRenderers & Partial<Pick<ToolDefinition, 'label' | 'namespace'>>

/** How calls of servers' tools are drawn, loaded when there is something to draw. */
export interface ToolDrawing {
  /** Never rejects: what cannot be loaded is drawn as pi draws any tool. */
  load(): Promise<void>
}

/**
 * Draws calls of servers' tools as pi's own MCP support draws them, also in a resumed session whose servers are not
 * there yet. A tool that draws itself, or that another extension draws, is left alone.
 */
export function drawServerTools(pi: Pick<ExtensionAPI, 'registerToolRenderer' | 'on'>): ToolDrawing {
  let renderersOf:
    | ((title: string) => Required<Pick<ToolRenderers, 'renderCall' | 'renderResult'>>)
    | undefined
  let loading: Promise<void> | undefined
  const load = (): Promise<void> =>
    (loading ??= import('./session/rendering/index.ts').then(
      (module) => void (renderersOf = module.renderersOf),
      () => undefined,
    ))
  /** What throws is drawn by pi as it draws any tool; this one is drawn again when that is known. */
  const ready = (title: string, { invalidate }: { invalidate(): void }) => {
    if (renderersOf) return renderersOf(title)
    void load().then(invalidate)
    throw new Error('not loaded yet')
  }
  pi.registerToolRenderer((name, next) => {
    // What the rest would use of a registered tool is its whole definition.
    const known = next() as Registered | undefined
    if (known?.renderCall || known?.renderResult) return known
    const title = titleOf(name, known)
    if (title === undefined) return known
    return {
      renderCall: (args, theme, context) => ready(title, context).renderCall(args, theme, context),
      renderResult: (result, options, theme, context) =>
        ready(title, context).renderResult(result, options, theme, context),
    }
  })
  // The transcript of a resumed session is drawn as soon as this is done.
  pi.on('session_start', (_event, ctx) => (ctx.mode === 'tui' && hasCalls(ctx) ? load() : undefined))
  return { load }
}

/** `server/tool`; undefined for a tool that is no server's. */
function titleOf(name: string, known: Registered | undefined): string | undefined {
  if (RESOURCE_TOOLS.has(name)) return name
  if (known) return known.namespace?.name.startsWith('mcp__') ? known.label : undefined
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  return server === undefined ? undefined : `${server}/${tool}`
}

function hasCalls({ sessionManager }: ExtensionContext): boolean {
  return sessionManager
    .getEntries()
    .some(
      (entry) =>
        entry.type === 'message' &&
        entry.message.role === 'toolResult' &&
        titleOf(entry.message.toolName, undefined) !== undefined,
    )
}
