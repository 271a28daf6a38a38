import { serverLine, type Tapline } from '@tapline/headless'
import { byAttention } from './servers/order.ts'
import { count } from './servers/words.ts'
import type { Toolbox } from './toolbox.ts'

/** What `/mcp` prints: servers that need attention first, then what is wrong with files and tools. */
export function serversText(tapline: Tapline, toolbox: Toolbox): string {
  if (tapline.servers.length === 0 && tapline.diagnostics.length === 0) {
    return 'No MCP servers are configured. Add them with "pi mcp add", or to mcp.json or mcp.toml.'
  }
  const servers = byAttention(tapline.servers)
  const lines = servers.flatMap((server) => {
    const { spec, session, listError } = server
    const { state, reason, era, protocolVersion, attention } = session.status
    const { received } = tapline.pipeline.book(spec.name).counts
    const wrong = state === 'connected' && spec.enabled ? (listError ?? reason) : undefined
    const details = [
      spec.exposure,
      spec.source.label,
      ...(protocolVersion ? [`${protocolVersion} (${era})`] : []),
      ...(received > 0 ? [count(received, 'push', 'pushes')] : []),
    ]
    return [
      `  ${serverLine(server, toolbox.toolsOf(spec.name).length)}`,
      `      ${details.join(' · ')}`,
      ...(wrong === undefined ? [] : [`      ! ${wrong}`]),
      ...(spec.enabled && attention ? [`      what to do: ${attention}`] : []),
    ]
  })
  const problems = [...new Set([...tapline.diagnostics.map(({ message }) => message), ...toolbox.problems])]
  return [`MCP servers (${servers.length}):`, ...lines, ...problems.map((problem) => `  ! ${problem}`)].join(
    '\n',
  )
}
