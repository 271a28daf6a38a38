import { text } from 'node:stream/consumers'
import { cleanText, isTaplineError, messageOf } from '@tapline/core'
import type { ServerTool } from '@tapline/core'
import type { Server } from '../host/server.ts'
import type { Tapline } from '../host/tapline.ts'
import { openTapline } from './command.ts'
import { atInterrupt } from './interrupts.ts'
import type { CommandContext } from './command.ts'

const INTERRUPTED = 130

/** `tapline call <server> <tool> [json]`: prints the CallToolResult. Exit 1 on `isError`, 2 on any other failure. */
export async function call(context: CommandContext): Promise<number> {
  const [serverName, toolName, json = '{}'] = context.args
  if (serverName === undefined || toolName === undefined) {
    return fail('Usage: tapline call <server> <tool> [json]')
  }
  let args: unknown
  try {
    args = JSON.parse(json === '-' ? await text(process.stdin) : json)
  } catch (thrown) {
    return fail(`The arguments are not JSON: ${messageOf(thrown)}`)
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return fail('The arguments must be a JSON object.')
  }

  const tapline = await openTapline(context, 'ignore', { attempts: 1 })
  const interrupt = new AbortController()
  const stopListening = atInterrupt(() => interrupt.abort())
  try {
    const server = serverFor(tapline, serverName)
    await server.settled(interrupt.signal)
    const tool = toolFor(tapline, server, toolName)
    const result = await server.session.callTool(tool?.name ?? toolName, args as Record<string, unknown>, {
      signal: interrupt.signal,
      ...(tool ? { tool } : {}),
    })
    console.log(JSON.stringify(result, undefined, context.json ? undefined : 2))
    return result.isError ? 1 : 0
  } catch (thrown) {
    const code = fail(isTaplineError(thrown) ? thrown.toString() : messageOf(thrown))
    return interrupt.signal.aborted ? INTERRUPTED : code
  } finally {
    stopListening()
    await tapline.close()
  }
}

/** The enabled server of this name, or an error that says which there are. */
export function serverFor(tapline: Tapline, name: string): Server {
  const server = tapline.server(name)
  if (!server) {
    const known = tapline.servers.map(({ spec }) => spec.name).join(', ') || 'none'
    const wrong = tapline.diagnostics.find((diagnostic) => diagnostic.server === name)
    throw new Error(wrong?.message ?? `No server is named "${name}". Configured: ${known}.`)
  }
  if (!server.spec.enabled) {
    throw new Error(`Server "${server.spec.name}" is disabled in ${server.spec.source.label}.`)
  }
  return server
}

/** The tool of this name, the server's own or the one that pi knows it by; nothing where the list is not known whole. */
function toolFor(tapline: Tapline, { spec }: Server, name: string): ServerTool | undefined {
  const listing = tapline.catalogue.listingOf(spec.name)
  if (!listing) return undefined
  const offered = tapline.catalogue
    .list()
    .tools.find((tool) => tool.name === name && tool.server.name === spec.name)
  const tool = listing.tools.find((candidate) => candidate.name === name) ?? offered?.serverTool
  if (tool || listing.problems.length > 0) return tool
  const names = listing.tools.map((candidate) => cleanText(candidate.name, 80)).join(', ') || 'none'
  throw new Error(`Server "${spec.name}" has no tool "${name}". It has: ${names}.`)
}

function fail(message: string): number {
  console.error(message)
  return 2
}
