import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import type { Server } from '@tapline/headless'
import { afterEach, expect, it, vi } from 'vitest'
import { audible } from '../../src/session/commands/audible.ts'
import type { CommandScope } from '../../src/session/commands/command.ts'
import { mcpCommand } from '../../src/session/commands/mcp.ts'
import { server } from './servers/stage.ts'

function scene(servers: readonly Server[]) {
  const said: string[] = []
  const ctx = { hasUI: true, mode: 'rpc', ui: { notify: (message: string) => void said.push(message) } }
  const scope = {
    tapline: { servers, server: (name: string) => servers.find(({ spec }) => spec.name === name) },
    toolbox: { toolsOf: () => ['one'], applyNow: async () => undefined },
  }
  const run = async (args: string): Promise<void> =>
    mcpCommand.run(args, ctx as unknown as ExtensionCommandContext, scope as unknown as CommandScope)
  return { said, run }
}

afterEach(() => vi.restoreAllMocks())

it('connects all anew at the same time: one that takes its time holds up no other', async () => {
  const { promise: slow, resolve: arrive } = Promise.withResolvers<void>()
  const { said, run } = scene([
    server('slow', { reconnect: () => slow }),
    server('off', { spec: { enabled: false } }),
    server('fast'),
    server('broken', { reconnect: () => Promise.reject(new Error('it is gone')) }),
  ])
  const running = run('reconnect')
  await vi.waitFor(() => expect(said).toHaveLength(2))
  expect(said).toContain('MCP server "fast" is connected (1 tool).')
  expect(said).toContain("mcp server 'broken' failed: it is gone")
  arrive()
  await running
  expect(said[2]).toBe('MCP server "slow" is connected (1 tool).')
})

it('connects one anew, and says when there is none of that name', async () => {
  const { said, run } = scene([server('one'), server('two')])
  await run('reconnect two')
  await run('reconnect three')
  expect(said).toEqual(['MCP server "two" is connected (1 tool).', 'No MCP server is named "three".'])
})

it('what commands say is written to standard error where pi shows no notices', () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const notify = vi.fn()
  const ctx = { hasUI: false, cwd: '/here', ui: { notify } } as unknown as ExtensionCommandContext
  const heard = audible(ctx)
  heard.ui.notify('something', 'info')
  expect(written).toHaveBeenCalledWith('something\n')
  expect(notify).not.toHaveBeenCalled()
  expect(heard.cwd).toBe('/here')
  const seen = { hasUI: true } as ExtensionCommandContext
  expect(audible(seen)).toBe(seen)
})
