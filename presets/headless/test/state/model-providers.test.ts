import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isModelProvider } from '../../src/state/model-providers.ts'
import { createPlace } from '../place.ts'
import { packageOfPi } from './pi.ts'

describe('the names of model providers', () => {
  it('are all those that pi knows', () => {
    const { agentDir } = createPlace().paths
    const types = readFileSync(join(packageOfPi('@earendil-works/pi-ai'), 'dist', 'types.d.ts'), 'utf8')
    const names = [.../type KnownProvider = ([^;]+);/.exec(types)![1]!.matchAll(/"([^"]+)"/g)].map(
      ([, name]) => name!,
    )
    expect(names.length).toBeGreaterThan(30)
    expect(names.filter((name) => !isModelProvider(agentDir, name))).toEqual([])
    expect(isModelProvider(agentDir, 'Anthropic')).toBe(true)
    expect(isModelProvider(agentDir, 'PI_MCP_TOKEN_HUB')).toBe(false)
  })

  it('are those of models.json as well', () => {
    const place = createPlace()
    place.write('agent/models.json', { providers: { mine: {} } })
    expect(isModelProvider(place.paths.agentDir, 'mine')).toBe(true)
    expect(isModelProvider(place.paths.agentDir, 'toString')).toBe(false)
    place.write('agent/models.json', '{ "providers": null')
    expect(isModelProvider(place.paths.agentDir, 'mine')).toBe(false)
  })
})
