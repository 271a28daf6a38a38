import { serverLine, type Server, type Tapline } from '@tapline/headless'
import type { Toolbox } from './toolbox.ts'

/** What `/mcp` prints: servers that need attention first, then what is wrong with files and tools. */
export function serversText(tapline: Tapline, toolbox: Toolbox): string {
  if (tapline.servers.length === 0 && tapline.diagnostics.length === 0) {
    return 'No MCP servers are configured. Add them with "pi mcp add", or to mcp.json or mcp.toml.'
  }
  const servers = tapline.servers.toSorted((a, b) => rank(a) - rank(b))
  const lines = servers.flatMap((server) => {
    const { spec, session, listError } = server
    const { state, era, protocolVersion, attention } = session.status
    const details = [
      spec.exposure,
      spec.source.label,
      ...(protocolVersion ? [`${protocolVersion} (${era})`] : []),
    ]
    return [
      `  ${serverLine(server, toolbox.toolsOf(spec.name).length)}`,
      `      ${details.join(' · ')}`,
      ...(state === 'connected' && listError !== undefined ? [`      ! ${listError}`] : []),
      ...(spec.enabled && attention ? [`      what to do: ${attention}`] : []),
    ]
  })
  const problems = [...new Set([...tapline.diagnostics.map(({ message }) => message), ...toolbox.problems])]
  return [`MCP servers (${servers.length}):`, ...lines, ...problems.map((problem) => `  ! ${problem}`)].join(
    '\n',
  )
}

function rank({ spec, session }: Server): number {
  if (!spec.enabled) return 5
  switch (session.status.state) {
    case 'auth_failed':
      return 0
    case 'disconnected':
      return 1
    case 'reconnecting':
      return 2
    case 'connected':
      return 4
    default:
      return 3
  }
}
