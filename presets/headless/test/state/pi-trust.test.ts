import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTrustedByPi } from '../../src/state/pi-trust.ts'
import { createPlace } from '../place.ts'
import { ofPi } from './pi.ts'

const { ProjectTrustStore } = await ofPi<{
  ProjectTrustStore: new (agentDir: string) => { get(cwd: string): boolean | null }
}>('core/trust-manager.js')

describe('what pi was told about a project', () => {
  it('is found up the tree, the nearest first, as pi finds it', () => {
    const place = createPlace()
    const { agentDir, cwd } = place.paths
    const deep = join(cwd, 'a', 'b')
    mkdirSync(deep, { recursive: true })
    const directories = [place.root, cwd, join(cwd, 'a'), deep, '/']
    const decision = fc.option(fc.constantFrom(true, false, null), { nil: undefined, freq: 2 })
    fc.assert(
      fc.property(fc.array(decision, { minLength: 5, maxLength: 5 }), (decisions) => {
        const entries = directories.map((directory, index) => [directory, decisions[index]])
        place.write('agent/trust.json', JSON.stringify(Object.fromEntries(entries)))
        for (const directory of [cwd, deep]) {
          const theirs = new ProjectTrustStore(agentDir).get(directory)
          expect(isTrustedByPi(agentDir, directory)).toBe(theirs === true)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('is that of the very directory where no other is asked for', () => {
    const place = createPlace()
    const { agentDir, cwd } = place.paths
    const below = join(cwd, 'below')
    mkdirSync(below)
    place.write('agent/trust.json', { [cwd]: true })
    expect([isTrustedByPi(agentDir, cwd, true), isTrustedByPi(agentDir, below, true)]).toEqual([true, false])
    place.write('agent/trust.json', { [cwd]: false, [below]: true })
    expect([isTrustedByPi(agentDir, cwd, true), isTrustedByPi(agentDir, below, true)]).toEqual([false, true])
  })

  it('is the same by every path to the directory', () => {
    const place = createPlace()
    const link = join(place.root, 'link')
    symlinkSync(place.paths.cwd, link)
    place.write('agent/trust.json', { [place.paths.cwd]: true })
    expect(isTrustedByPi(place.paths.agentDir, link)).toBe(true)
  })

  it('is no where it cannot be read, or was never asked', () => {
    const place = createPlace()
    const { agentDir, cwd } = place.paths
    expect(isTrustedByPi(agentDir, cwd)).toBe(false)
    for (const content of ['{', 'null', `{ "${cwd}": "yes" }`, '[]']) {
      place.write('agent/trust.json', content)
      expect(isTrustedByPi(agentDir, cwd)).toBe(false)
    }
    place.write('agent/trust.json', `\uFEFF{ "${cwd}": true }`)
    expect(isTrustedByPi(agentDir, cwd)).toBe(true)
  })
})
