import type { Tapline } from '@tapline/headless'
import { expect, it } from 'vitest'
import { mcpCommand } from '../../src/session/commands/mcp.ts'

const PATHS = { cwd: '/nowhere', home: '/home', agentDir: '/nowhere', loopsDir: '/nowhere' }

function server(name: string, enabled: boolean) {
  return { spec: { name, enabled, exposure: 'codemode' }, session: { status: { state: 'connected' } } }
}

const tapline = { servers: [server('on', true), server('off', false)] } as unknown as Tapline

function offered(typed: string): readonly string[] | undefined {
  return mcpCommand.complete(typed, tapline, PATHS)?.map(({ value }) => value)
}

it('offers for a change what may follow, and nothing after what is complete', () => {
  expect(offered('disable ')).toEqual(['disable on'])
  expect(offered('enable ')).toEqual(['enable off'])
  expect(offered('exposure o')).toEqual(['exposure on', 'exposure off'])
  expect(offered('exposure on d')).toEqual(['exposure on deferred', 'exposure on direct'])
  expect(offered('exposure on direct ')).toEqual(['exposure on direct project'])
  expect(offered('disable on p')).toEqual(['disable on project'])
  for (const done of ['disable on', 'disable on project', 'exposure on direct project x', 'enable nothing'])
    expect(offered(done)).toBeUndefined()
  expect(mcpCommand.complete('disable ', undefined, PATHS)).toBeNull()
})
