import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'

const NAME = 'jira'

/** Adds an MCP server for this session, and takes it away again. Registrations are not saved: each load makes its own. */
export default function (pi: ExtensionAPI): void {
  const url = process.env.JIRA_MCP_URL

  /** Throws when the name is another extension's, or the entry is not valid. */
  const register = (): void => {
    if (!url) throw new Error('JIRA_MCP_URL is not set: it is the address of the MCP server.')
    pi.registerMcpServer(NAME, { url, exposure: 'codemode', description: 'Issues: search, read, change' })
  }

  // Registered while pi loads, it connects when the session starts. What is thrown here would end pi.
  let problem: string | undefined
  try {
    register()
  } catch (thrown) {
    problem = String(thrown)
  }
  pi.on('session_start', (_event, ctx) => {
    if (problem !== undefined) ctx.ui.notify(`The server ${NAME} was not registered. ${problem}`, 'warning')
  })

  pi.registerCommand('jira-off', {
    description: `Remove the MCP server ${NAME} for this session`,
    handler: async (_args, ctx) => {
      pi.unregisterMcpServer(NAME)
      ctx.ui.notify(`The MCP server ${NAME} is removed until the next load or /jira-on.`, 'info')
    },
  })
  pi.registerCommand('jira-on', {
    description: `Add the MCP server ${NAME} again`,
    handler: async (_args, ctx) => {
      try {
        register()
        ctx.ui.notify(`The MCP server ${NAME} is connecting.`, 'info')
      } catch (thrown) {
        ctx.ui.notify(`The server ${NAME} was not registered. ${String(thrown)}`, 'warning')
      }
    },
  })
}
