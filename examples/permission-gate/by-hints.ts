import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'

/**
 * Asks before a tool of a server is called that may change something, by what the server says of the tool. A tool
 * of which nothing is said may. The words are not verified: a server that lies passes.
 */
export default function (pi: ExtensionAPI): void {
  pi.on('tool_call', async ({ toolName }, ctx) => {
    const tool = pi.getAllTools().find(({ name }) => name === toolName)
    // Tools of servers have a namespace; pi's own and those of other extensions are not this gate's business.
    if (!tool?.namespace?.name.startsWith('mcp__')) return undefined
    const { readOnlyHint = false, destructiveHint, openWorldHint = true } = tool.annotations ?? {}
    const harmless = readOnlyHint || (destructiveHint === false && !openWorldHint)
    if (harmless && destructiveHint !== true) return undefined
    if (!ctx.hasUI) return { block: true, reason: `${toolName} requires approval, but no UI is available` }
    const approved = await ctx.ui.confirm('Allow tool call?', toolName)
    return approved ? undefined : { block: true, reason: `${toolName} was not approved` }
  })
}
