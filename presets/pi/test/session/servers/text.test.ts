import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { describe, expect, it } from 'vitest'
import { mcpCommand } from '../../../src/session/commands/mcp.ts'
import { asCommandScope, book, listPrompts, type Scope, scopeOf, server, tool } from './stage.ts'

/** What a command prints where there is no panel. */
async function printed(scope: Scope, args: string): Promise<string> {
  const said: string[] = []
  const ctx = { hasUI: true, mode: 'rpc', ui: { notify: (message: string) => void said.push(message) } }
  await mcpCommand.run(args, ctx as unknown as ExtensionCommandContext, asCommandScope(scope))
  return said.join('\n')
}

const hub = () =>
  server('hub', {
    spec: {
      transport: {
        type: 'stdio',
        command: 'node',
        args: ['hub.mjs', '--token', 'sk-1234567890abcdef'],
        env: { HUB_KEY: 'never shown' },
        inheritEnv: true,
      },
      toolExposure: { close: 'direct' },
    },
    status: {
      pid: 4711,
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: 'hub\u001B[31m', version: '2.0' },
      report: { lastStderr: 'ready', stderrTail: 'starting\nready' },
    },
    tools: [
      tool('close', {
        annotations: { destructiveHint: true },
        description: 'Closes \u001B[2Jit.\nFor good.',
      }),
      tool('open', {
        inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      }),
      tool('odd', { title: 'broken' }),
    ],
    request: async (method) =>
      method === 'resources/list'
        ? { resources: [{ uri: 'hub://a', name: 'A' }] }
        : { resourceTemplates: [{ uriTemplate: 'hub://{id}', name: 'any' }] },
  })

describe('a server as text', () => {
  it('has what the pages of the panel have', async () => {
    const scope = scopeOf([hub()])
    scope.books.set('hub', book({ received: 3, delivered: 2, dropped: 1, lastError: 'too large' }))
    await listPrompts(scope.prompts!, 'hub', () => ({
      prompts: [{ name: 'review', description: 'Reviews.', arguments: [{ name: 'file', required: true }] }],
    }))
    const text = await printed(scope, 'status hub')
    expect(text.split('\n')[0]).toBe('hub: connected · 2 tools')
    for (const line of [
      /^ {2}transport +stdio: node hub\.mjs --token \[REDACTED\]$/m,
      /^ {2}environment +HUB_KEY$/m,
      /^ {2}process +pid 4711$/m,
      /^ {2}protocol +2025-11-25, the legacy era$/m,
      /^ {2}server +hub 2\.0$/m,
      /^ {2}exposure +codemode: /m,
      /^ {4}close +direct +mcp__hub__close · may destroy$/m,
      /^ {4}open +codemode +mcp__hub__open$/m,
      /^ {4}odd +left out: its input schema cannot be used$/m,
      /^ {4}hub:\/\/a +A$/m,
      /^ {4}hub:\/\/\{id\} +any$/m,
      /^ {4}\/mcp:hub:review <file> — Reviews\.$/m,
      /^ {2}pushes +received=3 = delivered=2 \+ .*dropped=1/m,
      /^ {2}last error +too large$/m,
      /^ {4}starting\n {4}ready$/m,
    ])
      expect(text).toMatch(line)
    expect(text).not.toMatch(/never shown|sk-1234/)
    expect(text).not.toContain('\u001B')
  })

  it('has one tool with what it takes and what the server says of it', async () => {
    const text = await printed(scopeOf([hub()]), 'status hub open')
    for (const line of [
      /^called +mcp__hub__open$/m,
      /^hints +none$/m,
      /^ *id +string, required$/m,
      /"properties"/,
    ])
      expect(text).toMatch(line)
    const close = await printed(scopeOf([hub()]), 'status hub mcp__hub__close')
    expect(close).toMatch(/^hints +may destroy \(the server’s word\)$/m)
    expect(close).toMatch(/^Closes it\.$/m)
    expect(close).not.toContain('\u001B')
  })

  it('says what it is not, and that a list cannot be had', async () => {
    const away = server('away', {
      status: {
        state: 'disconnected',
        reason: 'it is gone',
        attention: 'Start it.',
      },
    })
    const text = await printed(scopeOf([away]), 'status away')
    expect(text).toMatch(/^away: disconnected: it is gone$/m)
    expect(text).toMatch(/^ {2}what to do +Start it\.$/m)
    expect(text).toMatch(/^ {2}tools +not known yet$/m)
    const mute = server('mute', {
      status: { capabilities: { resources: {} } },
      tools: [],
      request: async () => {
        throw new Error('not today')
      },
    })
    expect(await printed(scopeOf([mute]), 'status mute')).toMatch(/^ {2}resources +not today$/m)
  })

  it('that does not exist is said, and so are words too many', async () => {
    expect(await printed(scopeOf([hub()]), 'status nobody')).toBe('No MCP server is named "nobody".')
    expect(await printed(scopeOf([hub()]), 'status hub nothing')).toBe(
      'MCP server "hub" offers no tool "nothing".',
    )
    expect(await printed(scopeOf([hub()]), 'status hub open more')).toBe('usage: /mcp status [server [tool]]')
    expect(await printed(scopeOf([hub()]), 'reconnect hub more')).toBe('usage: /mcp reconnect [server]')
  })
})

it('the list of servers says how many pushes came', async () => {
  const scope = scopeOf([hub(), server('quiet')])
  scope.books.set('hub', book({ received: 1, delivered: 1 }))
  const text = await printed(scope, 'status')
  expect(text).toMatch(/hub: connected · 2 tools\n +codemode · .* · 2025-11-25 \(legacy\) · 1 push$/m)
  expect(text).toMatch(/quiet: .*\n +codemode · .* · 2025-11-25 \(legacy\)$/m)
})
