import type { ServerSpec } from '@tapline/core'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { eraMemory } from '../../src/state/eras.ts'
import { createPlace } from '../place.ts'
import type { Place } from '../place.ts'

const HOUR = 60 * 60 * 1000

const server = (command: string): ServerSpec =>
  ({ name: 'hub', transport: { type: 'stdio', command, args: [], env: {}, inheritEnv: true } }) as never

function written(place: Place): Promise<Record<string, { era: string }>> {
  return vi.waitFor(() => JSON.parse(place.read('agent/tapline/eras.json')).servers)
}

describe('the memory of eras', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 * HOUR })
    return () => void vi.useRealTimers()
  })

  it('is there for the next process, for the same way to the same server', async () => {
    const place = createPlace()
    const { agentDir } = place.paths
    eraMemory(agentDir, () => server('one')).set('hub', 'modern')
    await written(place)
    expect(eraMemory(agentDir, () => server('one')).get('hub')).toBe('modern')
    expect(eraMemory(agentDir, () => server('two')).get('hub')).toBeUndefined()
    expect(eraMemory(agentDir, () => server('one')).get('other')).toBeUndefined()
    // What the command is does not stand in the file.
    expect(place.read('agent/tapline/eras.json')).not.toContain('one')
  })

  it('holds for a day', async () => {
    const place = createPlace()
    const memory = eraMemory(place.paths.agentDir, () => server('one'))
    memory.set('hub', 'legacy')
    vi.setSystemTime(1_023 * HOUR)
    expect(memory.get('hub')).toBe('legacy')
    vi.setSystemTime(1_025 * HOUR)
    expect(memory.get('hub')).toBeUndefined()
    // A clock that was set back is no reason to believe for longer.
    vi.setSystemTime(970 * HOUR)
    expect(memory.get('hub')).toBeUndefined()
    await written(place)
  })

  it('forgets what it is told to', async () => {
    const place = createPlace()
    const memory = eraMemory(place.paths.agentDir, () => server('one'))
    memory.set('hub', 'modern')
    expect(Object.keys(await written(place))).toHaveLength(1)
    memory.set('hub', undefined)
    expect(memory.get('hub')).toBeUndefined()
    await vi.waitFor(async () => expect(await written(place)).toEqual({}))
  })

  it('keeps the newest two hundred', async () => {
    const place = createPlace()
    const many = Array.from({ length: 230 }, (_, index) => [`s${index}`, { era: 'legacy', at: 0 }])
    place.write('agent/tapline/eras.json', { version: 1, servers: Object.fromEntries(many) })
    eraMemory(place.paths.agentDir, () => server('one')).set('hub', 'modern')
    const names = await vi.waitFor(async () => {
      const found = Object.keys(await written(place))
      expect(found).toHaveLength(200)
      return found
    })
    expect(names[0]).toBe('s31')
    expect(names.at(-1)).toMatch(/^hub#/)
  })

  it.each(['{', '[]', '{ "servers": 1 }'])('asks again when the file is %s', async (content) => {
    const place = createPlace()
    place.write('agent/tapline/eras.json', content)
    const memory = eraMemory(place.paths.agentDir, () => server('one'))
    expect(memory.get('hub')).toBeUndefined()
    memory.set('hub', 'modern')
    expect(memory.get('hub')).toBe('modern')
    await vi.waitFor(async () => expect(Object.keys(await written(place))).toHaveLength(1))
  })
})
