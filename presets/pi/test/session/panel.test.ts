import { createRequire, findPackageJSON } from 'node:module'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createArrivals } from '../../src/session/panel/arrivals.ts'
import { panelLines, sparkline } from '../../src/session/panel/lines.ts'

const MINUTE = 60_000

// pi measures every line with this. It is pi's dependency, not ours.
const piRequire = createRequire(findPackageJSON('@earendil-works/pi-coding-agent', import.meta.url) ?? '')
const { visibleWidth } = piRequire('@earendil-works/pi-tui') as { visibleWidth(text: string): number }

describe('arrivals by minute', () => {
  it('hold what came in each of the last sixty minutes, whatever the times', () => {
    const steps = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 90 * MINUTE }), fc.integer({ min: 1, max: 9 })),
      {
        maxLength: 60,
      },
    )
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 70 * MINUTE }), (pauses, wait) => {
        const arrivals = createArrivals()
        const came: { readonly at: number; readonly count: number }[] = []
        let now = 1_800_000_000_000
        for (const [pause, count] of pauses) {
          now += pause
          came.push({ at: now, count })
          arrivals.add('web', count, now)
        }
        now += wait
        const minute = Math.floor(now / MINUTE)
        const expected = Array.from({ length: 60 }, (_, index) =>
          came
            .filter(({ at }) => Math.floor(at / MINUTE) === minute - 59 + index)
            .reduce((sum, { count }) => sum + count, 0),
        )
        expect(arrivals.of('web', now)).toEqual(expected)
      }),
    )
  })

  it('survive a clock that is set back, and forget who has been silent for an hour', () => {
    const arrivals = createArrivals()
    arrivals.add('web', 2, 10_000 * MINUTE)
    arrivals.add('web', 3, 9_000 * MINUTE)
    expect(arrivals.of('web', 9_000 * MINUTE).at(-1)).toBe(5)
    arrivals.add('other', 9, 10_000 * MINUTE)
    expect(arrivals.sources(10_030 * MINUTE)).toEqual([
      { source: 'other', total: 9 },
      { source: 'web', total: 5 },
    ])
    expect(arrivals.sources(10_060 * MINUTE)).toEqual([])
    expect(arrivals.of('nobody', 1)).toEqual(Array<number>(60).fill(0))
  })
})

describe('the panel', () => {
  it('shows a bar for two minutes, and none that is there as if it were not', () => {
    const counts = [...Array<number>(56).fill(0), 1, 0, 50, 50]
    expect(sparkline(counts)).toBe(`${'▁'.repeat(28)}▂█`)
    expect(sparkline(Array<number>(60).fill(0))).toBe('▁'.repeat(30))
  })

  it('fits eighty columns and ten lines, whatever the sources are called', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 60, unit: 'binary' })),
        fc.integer({ min: 1, max: 2 ** 31 }),
        (names, count) => {
          const arrivals = createArrivals()
          const now = 1_800_000_000_000
          for (const name of names) arrivals.add(name, count, now)
          const status = {
            rules: { total: 9_999, enabled: 9_999, disabled: 0, fireOnce: 0, repeat: 0, promote: 0 },
            running: 99,
            limit: 99,
            waiting: 9_999,
            budget: { spentUsd: 9_999.99, capUsd: 9_999.99 },
          }
          const lines = panelLines(arrivals, ['quiet'], status as never, now)
          expect(lines.length).toBeLessThanOrEqual(10)
          for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(78)
        },
      ),
    )
  })

  it('lists who pushed most first, then who is configured and quiet', () => {
    const arrivals = createArrivals()
    const now = 1_800_000_000_000
    arrivals.add('few', 1, now)
    arrivals.add('many', 7, now)
    const lines = panelLines(arrivals, ['quiet', 'many'], undefined, now)
    expect(lines.map((line) => line.trim().split(/\s+/)[0])).toEqual(['pushes,', 'many', 'few', 'quiet'])
    expect(lines[1]).toMatch(/▁█ 7$/)
    expect(panelLines(createArrivals(), [], undefined, now)).toEqual(['pushes, last hour', '  no source'])
  })
})
