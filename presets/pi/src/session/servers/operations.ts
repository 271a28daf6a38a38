import { isTaplineError, messageOf } from '@tapline/core'
import { type ChangeScope, type Server, type ServerChange, serverLine } from '@tapline/headless'
import type { CommandScope } from '../commands/command.ts'
import { count } from './words.ts'

/** Connects a server anew. Answers what a person is told; rejects with a sentence. */
export async function reconnectServer(
  server: Server,
  { toolbox }: Pick<CommandScope, 'toolbox'>,
): Promise<string> {
  const { name, enabled } = server.spec
  if (!enabled) throw new Error(`MCP server "${name}" is disabled.`)
  try {
    await server.session.reconnect()
    await server.settled()
  } catch (thrown) {
    const message = isTaplineError(thrown) ? thrown.toString() : messageOf(thrown)
    throw new Error(`mcp server '${name}' failed: ${message}`, { cause: thrown })
  }
  await toolbox.applyNow()
  return `MCP server "${name}" is connected (${count(toolbox.toolsOf(name).length, 'tool')}).`
}

/** Saves a change and waits until the server is as it should be. Answers what a person is told; rejects with a sentence. */
export async function changeServer(
  name: string,
  wanted: ServerChange,
  where: ChangeScope,
  { tapline, toolbox, reloaded }: Pick<CommandScope, 'tapline' | 'toolbox' | 'reloaded'>,
): Promise<string> {
  const { savedTo } = await tapline.change(name, wanted, where).catch((thrown: unknown) => {
    throw unsaved(name, thrown)
  })
  reloaded()
  const server = tapline.server(name)
  if (wanted.enabled === true) await server?.settled()
  await toolbox.applyNow()
  const state = server ? serverLine(server, toolbox.toolsOf(server.spec.name).length) : name
  const saved = savedTo === undefined ? 'For this session.' : `Saved to ${savedTo}.`
  return `${state} · ${server?.spec.exposure}. ${saved}`
}

/** What the system says of a file that it does not let anybody write, as a sentence. */
function unsaved(name: string, thrown: unknown): unknown {
  const { syscall, path, dest = path } = (thrown ?? {}) as NodeJS.ErrnoException & { readonly dest?: string }
  if (!(thrown instanceof Error) || syscall === undefined || dest === undefined) return thrown
  const [reason] = thrown.message.split(',', 1)
  return new Error(`MCP server "${name}" was not changed: ${dest} cannot be written (${reason}).`, {
    cause: thrown,
  })
}
