import { describeServer } from '../host/status.ts'
import type { ServerDescription } from '../host/status.ts'
import type { Tapline } from '../host/tapline.ts'
import { openTapline } from './command.ts'
import type { CommandContext } from './command.ts'

/** `tapline list`: connects every enabled server. Exit 1 when an entry is invalid, or a server is not connected or cannot list its tools. */
export async function list(context: CommandContext): Promise<number> {
  const tapline = await openTapline(context, 'ignore', { attempts: 1 })
  try {
    tapline.start()
    await Promise.all(tapline.servers.map((server) => server.settled()))
    const { servers, diagnostics } = report(tapline)
    if (context.json) console.log(JSON.stringify({ servers, diagnostics }, undefined, 2))
    else print(servers, diagnostics)
    const broken = tapline.diagnostics.some((diagnostic) => diagnostic.severity === 'error')
    const missing = tapline.servers.some(
      ({ spec, session, listError }) =>
        spec.enabled && (session.status.state !== 'connected' || listError !== undefined),
    )
    return broken || missing ? 1 : 0
  } finally {
    await tapline.close()
  }
}

function report(tapline: Tapline): { servers: ServerDescription[]; diagnostics: string[] } {
  const offered = tapline.catalogue.list()
  const servers = tapline.servers.map((server) => describeServer(server, offered.tools))
  // An entry that is no server still stands in the list, with what is wrong with it.
  for (const { server, severity, message, path } of tapline.diagnostics) {
    if (severity !== 'error' || server === undefined || servers.some(({ name }) => name === server)) continue
    servers.push({
      name: server,
      source: path ?? '',
      transport: 'unknown',
      state: 'invalid',
      tools: [],
      error: message,
    })
  }
  return { servers, diagnostics: problemsOf(tapline, servers) }
}

/** What is wrong beside that servers are not connected, which their own lines say. */
export function problemsOf(tapline: Tapline, servers: readonly ServerDescription[]): string[] {
  const failed = new Set(servers.flatMap(({ name, error }) => (error === undefined ? [] : [name])))
  const said = tapline.diagnostics.filter(
    ({ server, message, severity }) =>
      severity === 'error' || server === undefined || !failed.has(server) || !isFailure(message, server),
  )
  return [...said, ...tapline.catalogue.list().diagnostics].map(({ message }) => message)
}

function isFailure(message: string, server: string): boolean {
  return message.startsWith(`mcp server '${server}' failed: `)
}

function print(servers: readonly ServerDescription[], diagnostics: readonly string[]): void {
  if (servers.length === 0) console.log('No MCP servers are configured.')
  for (const server of servers) {
    const era = server.protocolVersion ? ` · ${server.protocolVersion}` : ''
    console.log(`${server.name}  ${server.state}${era} · ${server.transport} · ${server.source}`)
    if (server.error !== undefined) console.log(`  ${server.error.replaceAll('\n', '\n  ')}`)
    if (server.attention !== undefined) console.log(`  ${server.attention}`)
    for (const tool of server.tools) {
      console.log(`  ${tool.name}${tool.exposure === 'direct' ? '' : ` [${tool.exposure}]`}`)
    }
  }
  const said = new Set(servers.map(({ error }) => error))
  for (const diagnostic of diagnostics) if (!said.has(diagnostic)) console.error(`! ${diagnostic}`)
}
