import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'

/** Tools that a person decides about, by their full names: a bare `transition_issue` would never match. */
const MUTATING = new Set([
  'mcp__jira__transition_issue',
  'mcp__jira__delete_issue',
  'mcp__github__create_pull_request',
])

/** Asks before a tool of the list is called, by the model or from a codemode script. Without a UI it is blocked. */
export default function (pi: ExtensionAPI): void {
  pi.on('tool_call', async ({ toolName }, ctx) => {
    if (!MUTATING.has(toolName)) return undefined
    if (!ctx.hasUI) return { block: true, reason: `${toolName} blocked: no UI to confirm` }
    const server = toolName.split('__')[1]
    const approved = await ctx.ui.confirm('Allow MCP tool call?', `${toolName} (from ${server})`)
    return approved ? undefined : { block: true, reason: `${toolName} was not approved` }
  })
}
