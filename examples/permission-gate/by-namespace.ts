import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'

/** Servers that a person decides about, as pi names them: `mcp__<server>`, with `_` for `-`. */
const GATED = new Set(['mcp__jira', 'mcp__github'])

/**
 * Asks before any tool of these servers is called, whatever it is called: servers of mcp.toml and of other dialects
 * have tools under their own names, which say nothing of the server.
 */
export default function (pi: ExtensionAPI): void {
  pi.on('tool_call', async ({ toolName }, ctx) => {
    const namespace = pi.getAllTools().find(({ name }) => name === toolName)?.namespace?.name
    if (namespace === undefined || !GATED.has(namespace)) return undefined
    if (!ctx.hasUI) return { block: true, reason: `${toolName} of ${namespace} blocked: no UI to confirm` }
    const approved = await ctx.ui.confirm('Allow MCP tool call?', `${toolName} (from ${namespace})`)
    return approved ? undefined : { block: true, reason: `${toolName} was not approved` }
  })
}
