import { text } from 'node:stream/consumers'
import { isTaplineError, messageOf } from '@tapline/core'
import { type CommandContext, openTapline } from './command.ts'

/** `tapline call <server> <tool> [json]`: prints the CallToolResult. Exit 1 on `isError`, 2 on any other failure. */
export async function call(context: CommandContext): Promise<number> {
  const [serverName, tool, json = '{}'] = context.args
  if (serverName === undefined || tool === undefined) return fail('Usage: tapline call <server> <tool> [json]')
  let args: unknown
  try {
    args = JSON.parse(json === '-' ? await text(process.stdin) : json)
  } catch (thrown) {
    return fail(`The arguments are not JSON: ${messageOf(thrown)}`)
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return fail('The arguments must be a JSON object.')

  const tapline = await openTapline(context, 'ignore', { attempts: 1 })
  const interrupt = new AbortController()
  const onInterrupt = (): void => interrupt.abort()
  process.once('SIGINT', onInterrupt)
  try {
    const server = tapline.server(serverName)
    if (!server) {
      const known = tapline.servers.map(({ spec }) => spec.name).join(', ') || 'none'
      const wrong = tapline.diagnostics.find((diagnostic) => diagnostic.server === serverName)
      return fail(wrong?.message ?? `No server is named "${serverName}". Configured: ${known}.`)
    }
    if (!server.spec.enabled) return fail(`Server "${server.spec.name}" is disabled in ${server.spec.source.label}.`)
    await server.settled(interrupt.signal)
    const listed = tapline.catalogue.listingOf(server.spec.name)?.tools.find(({ name }) => name === tool)
    const result = await server.session.callTool(tool, args as Record<string, unknown>, {
      signal: interrupt.signal,
      ...(listed ? { tool: listed } : {}),
    })
    console.log(JSON.stringify(result, undefined, context.json ? undefined : 2))
    return result.isError ? 1 : 0
  } catch (thrown) {
    return fail(isTaplineError(thrown) ? thrown.toString() : messageOf(thrown))
  } finally {
    process.removeListener('SIGINT', onInterrupt)
    await tapline.close()
  }
}

function fail(message: string): number {
  console.error(message)
  return 2
}
