import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { ServerSpec, SessionStatus } from '@tapline/core'
import type { Tapline } from '@tapline/headless'
import { describe, expect, it } from 'vitest'
import { type FactoryFile, factoryCachePath } from '../../../presets/pi/src/cached-tools.ts'
import { toolMemory } from '../../../presets/pi/src/session/tool-memory.ts'
import { createScratch, type Scratch } from '../../drivers/scratch.ts'

interface Given {
  readonly spec?: { readonly dialect?: string; readonly source?: Partial<ServerSpec['source']> }
  readonly status?: Partial<SessionStatus>
  readonly listed?: boolean
}

/** Where a session in the scratch directory keeps things. */
const placeOf = ({ agent, project }: Scratch) => ({ agentDir: agent, cwd: project })

const USER = { scope: 'user', path: '/agent/mcp.json' } as const

/** A Tapline with these servers; all that the memory looks at. */
function taplineOf(servers: Readonly<Record<string, Given>>): Tapline {
  const all = Object.entries(servers).map(([name, { spec, status, listed = true }]) => ({
    spec: {
      name,
      enabled: true,
      dialect: spec?.dialect ?? 'mcp.json',
      source: { ...USER, ...spec?.source },
    },
    session: { status: { state: 'connected', ...status } },
    listed,
  }))
  return {
    kernel: { plugins: [], hooks: { registerTool: { taps: [] } } },
    servers: all,
    server: (name: string) => all.find(({ spec }) => spec.name === name),
  } as unknown as Tapline
}

/** What a session knows that has registered nothing. */
const known = ({ servers }: Tapline) => ({
  definitions: [],
  list: { tools: [], setAside: [] },
  listed: new Set(servers.filter(({ listed }) => listed)),
})

/** A session in the scratch project, or elsewhere, that remembers these servers; answers the factory's file. */
async function session(
  { agent, project }: Scratch,
  servers: Readonly<Record<string, Given>>,
  cwd = project,
): Promise<FactoryFile | undefined> {
  const tapline = taplineOf(servers)
  const memory = toolMemory({ agentDir: agent, cwd }, tapline, {})
  memory.remember(known(tapline))
  await memory.close()
  const file = factoryCachePath(agent)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

describe('what the factory may register', () => {
  it('is written when the user’s servers have been listed', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    expect(await session(scratch, { a: {} })).toMatchObject({ complete: true })
    expect(await session(scratch, { a: {}, b: { listed: false } })).toMatchObject({ complete: false })
  })

  it.each<[string, Given]>([
    ['a project’s server', { spec: { source: { scope: 'project', path: '/p/.pi/mcp.json' } } }],
    ['a project’s override', { spec: { source: { override: '/p/.pi/mcp.json' } } }],
  ])('stays as it is in a session with %s', async (_, given) => {
    await using scratch = createScratch({ tmp: 'shared' })
    expect(await session(scratch, { a: {}, b: given })).toBeUndefined()
    const before = await session(scratch, { a: {}, b: { listed: false } })
    expect(await session(scratch, { a: {}, b: given })).toEqual(before)
  })

  it.each(['mcp.json', 'mcp.toml', 'tapline.toml', 'tapline.ts'])(
    'stays as it is where a project has %s',
    async (name) => {
      await using scratch = createScratch({ tmp: 'shared' })
      scratch.write(`project/.pi/${name}`, '')
      expect(await session(scratch, { a: {} })).toBeUndefined()
      expect(await session(scratch, { a: {} }, scratch.home)).toMatchObject({ complete: true })
    },
  )

  it('is written in the home of the agent directory itself', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const agent = path.join(scratch.project, '.pi')
    mkdirSync(agent)
    scratch.write('project/.pi/mcp.json', { mcpServers: {} })
    expect(await session({ ...scratch, agent }, { a: {} })).toMatchObject({ complete: true })
  })
})

describe('the instructions of a server', () => {
  const said = { status: { instructions: 'Only for this user.' } }
  const early = { status: { state: 'connecting' as const }, listed: false }

  it('are kept for the user’s servers of mcp.json alone', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const registered = { ...said, spec: { dialect: 'registered' } }
    const loops = { ...said, spec: { dialect: 'mcp.toml' } }
    const written = await session(scratch, { a: said, registered, loops })
    expect(written?.instructions).toEqual({ a: 'Only for this user.' })
  })

  it('are what it said last, until it has connected', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const { instructions = {} } = (await session(scratch, { a: said }))!
    const memoryOf = (servers: Readonly<Record<string, Given>>) =>
      toolMemory(placeOf(scratch), taplineOf(servers), instructions)
    const of = (given: Given) => memoryOf({ a: given }).instructionsOf('a')
    expect(of(early)).toBe('Only for this user.')
    expect(of({})).toBeUndefined()
    expect(of({ ...early, spec: { source: { scope: 'project' } } })).toBeUndefined()
    expect(of({ ...early, spec: { source: { override: '/p/.pi/mcp.json' } } })).toBeUndefined()
    expect(of({ ...early, spec: { dialect: 'mcp.toml' } })).toBeUndefined()
    expect(memoryOf({}).instructionsOf('a')).toBeUndefined()
  })

  it('stay what it said in this session when it drops out', async () => {
    await using scratch = createScratch({ tmp: 'shared' })
    const { instructions = {} } = (await session(scratch, { a: said }))!
    const status: { state: SessionStatus['state'] } = { state: 'connecting' }
    const tapline = taplineOf({ a: { listed: false } })
    Object.assign(tapline.servers[0]!.session, { status })
    const memory = toolMemory(placeOf(scratch), tapline, instructions)
    expect(memory.instructionsOf('a')).toBe('Only for this user.')
    status.state = 'connected'
    expect(memory.instructionsOf('a')).toBeUndefined()
    status.state = 'reconnecting'
    expect(memory.instructionsOf('a')).toBeUndefined()
    Object.assign(status, { state: 'connected', instructions: 'New.' })
    Object.assign(tapline.servers[0]!, { listed: true })
    memory.remember(known(tapline))
    Object.assign(status, { state: 'reconnecting', instructions: undefined })
    expect(memory.instructionsOf('a')).toBe('New.')
    await memory.close()
  })
})
