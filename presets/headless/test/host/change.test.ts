import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { TaplineOptions } from '../../src/host/options.ts'
import { createTapline, type Tapline } from '../../src/host/tapline.ts'
import { trustStore } from '../../src/state/trust.ts'
import { createPlace, type Place } from '../place.ts'

async function open(place: Place, more: Partial<TaplineOptions> = {}): Promise<Tapline> {
  const tapline = await createTapline({
    paths: place.paths,
    env: {},
    info: { name: 'test', version: '1' },
    mode: 'headless',
    pushes: 'ignore',
    projectTrusted: true,
    trust: trustStore(place.paths.agentDir),
    registered: () => [],
    onDiagnostic: () => undefined,
    ...more,
  })
  onTestFinished(() => tapline.close())
  return tapline
}

function json(place: Place, file: string): unknown {
  return JSON.parse(place.read(file))
}

const one = { command: 'one' }

it('goes into the file that defines the server, as long as no override does', async () => {
  const place = createPlace()
  const user = place.write('agent/mcp.json', { mcpServers: { 'my-one': one } })
  const tapline = await open(place)
  expect(await tapline.change('my_one', { enabled: false })).toEqual({ savedTo: user })
  expect(json(place, 'agent/mcp.json')).toEqual({ mcpServers: { 'my-one': { ...one, enabled: false } } })
  expect(tapline.server('my-one')?.spec.enabled).toBe(false)

  const project = join(place.paths.cwd, '.pi', 'mcp.json')
  expect(await tapline.change('my-one', { enabled: true }, 'project')).toEqual({ savedTo: project })
  expect(json(place, 'project/.pi/mcp.json')).toEqual({ mcpServers: { 'my-one': { enabled: true } } })
  expect(tapline.server('my-one')?.spec).toMatchObject({ enabled: true, source: { override: project } })

  expect(await tapline.change('my-one', { exposure: 'direct' })).toEqual({ savedTo: project })
  expect(json(place, 'agent/mcp.json')).toEqual({ mcpServers: { 'my-one': { ...one, enabled: false } } })
  expect(tapline.server('my-one')?.spec.exposure).toBe('direct')
})

it('of a server of the project goes into the file of the project, either way', async () => {
  const place = createPlace()
  const project = place.write('project/.pi/mcp.json', { mcpServers: { one } })
  const tapline = await open(place)
  for (const scope of ['here', 'project'] as const)
    expect(await tapline.change('one', { exposure: 'hidden' }, scope)).toEqual({ savedTo: project })
  expect(json(place, 'project/.pi/mcp.json')).toEqual({ mcpServers: { one: { ...one, exposure: 'hidden' } } })
})

it('makes no override that pi would not read, and says so', async () => {
  const place = createPlace()
  place.write('agent/mcp.json', { mcpServers: { one } })
  const tapline = await open(place, { projectTrusted: false })
  await expect(tapline.change('one', { enabled: false }, 'project')).rejects.toThrow(
    /mcp\.json would not be read: pi does not trust this project/,
  )
  expect(existsSync(join(place.paths.cwd, '.pi', 'mcp.json'))).toBe(false)
  await expect(tapline.change('two', { enabled: false })).rejects.toThrow('No MCP server is named "two".')
})

it('keeps the yes for a mcp.toml of the project, and gives none where there was none', async () => {
  const place = createPlace()
  const text = '# ours\n[[server]]\nname = "one"\ncommand = "one"\n'
  const path = place.write('project/.pi/mcp.toml', text)
  const trust = trustStore(place.paths.agentDir)
  await trust.save({ path, directory: place.paths.cwd, content: text }, true)
  const tapline = await open(place, { trust })
  expect(await tapline.change('one', { exposure: 'hidden' })).toEqual({ savedTo: path })
  expect(place.read('project/.pi/mcp.toml')).toBe(text.replace('"one"\n', '"one"\nexposure = "hidden"\n'))
  expect(tapline.questions).toEqual([])
  expect(tapline.server('one')?.spec.exposure).toBe('hidden')

  // Used by --approve alone, which is no yes for another time.
  const other = `${text}# changed by hand\n`
  place.write('project/.pi/mcp.toml', other)
  const approving = await open(place, { trust: trustStore(place.paths.agentDir, true) })
  await approving.change('one', { exposure: 'hidden' })
  await tapline.reload()
  expect(tapline.questions).toMatchObject([{ path }])
})

it('of a mcp.toml of the user has no place in a project', async () => {
  const place = createPlace()
  const path = place.write('agent/loops/mcp.toml', '[[server]]\nname = "one"\ncommand = "one"\n')
  const tapline = await open(place)
  await expect(tapline.change('one', { enabled: false }, 'project')).rejects.toThrow(
    /mcp\.toml has no overrides/,
  )
  expect(await tapline.change('one', { enabled: false })).toEqual({ savedTo: path })
  expect(tapline.server('one')?.spec.enabled).toBe(false)
})

it('of a registered server lasts for the session, over reloads', async () => {
  const place = createPlace()
  const registered = () => [{ name: 'one', config: one, by: 'an extension' }]
  const tapline = await open(place, { registered })
  expect(await tapline.change('one', { enabled: false })).toEqual({})
  expect(await tapline.change('one', { exposure: 'direct' })).toEqual({})
  await tapline.reload()
  expect(tapline.server('one')?.spec).toMatchObject({ enabled: false, exposure: 'direct' })
  await expect(tapline.change('one', { enabled: true }, 'project')).rejects.toThrow(
    /an extension, not from a file/,
  )
  expect(existsSync(join(place.paths.agentDir, 'mcp.json'))).toBe(false)
})

it('leaves a file alone that became unreadable, and the servers too', async () => {
  const place = createPlace()
  place.write('agent/mcp.json', { mcpServers: { one } })
  const tapline = await open(place)
  place.write('agent/mcp.json', '{ broken')
  await expect(tapline.change('one', { enabled: false })).rejects.toThrow(
    /it is not a valid JSON object; fix it/,
  )
  expect(place.read('agent/mcp.json')).toBe('{ broken')
  expect(tapline.server('one')?.spec.enabled).toBe(true)
})

it('keeps a server whose line, exposure or policies change, and gives up one that is reached otherwise', async () => {
  const place = createPlace()
  const write = (servers: object) =>
    place.write('agent/mcp.json', JSON.stringify({ mcpServers: servers }, undefined, 2))
  write({ one })
  const tapline = await open(place)
  const first = tapline.server('one')
  write({ above: one, one: { ...one, exposure: 'direct', description: 'new', push: { default: 'log' } } })
  await tapline.reload()
  expect(tapline.server('one')).toBe(first)
  expect(first?.spec).toMatchObject({ exposure: 'direct', description: 'new', push: { default: 'log' } })
  for (const other of [{ command: 'other' }, { ...one, timeout: 5 }, { ...one, subscribe: ['a://*'] }]) {
    const before = tapline.server('one')
    write({ one: other })
    await tapline.reload()
    expect(tapline.server('one')).not.toBe(before)
  }
})
