import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { columnsOf, fit, pad, wrap } from '../../../src/session/screen/columns.ts'
import { foreign, visibleWidth } from './pi-terminal.ts'

const clean = foreign.map((raw) => raw.replaceAll(/[\p{C}\s]+/gu, ' '))

describe('columns', () => {
  it('are never fewer than pi counts', () => {
    fc.assert(
      fc.property(clean, fc.integer({ min: 0, max: 90 }), (words, columns) => {
        expect(visibleWidth(words)).toBeLessThanOrEqual(columnsOf(words))
        expect(visibleWidth(fit(words, columns))).toBeLessThanOrEqual(columns)
        expect(columnsOf(pad(words, columns))).toBe(Math.max(columns, columnsOf(words)))
      }),
      { numRuns: 2_000 },
    )
  })

  it('are what they are for the text of most people', () => {
    for (const words of [
      'build 7 failed',
      'déjà vu – “quoted” … 5 € → ok',
      'Привет, мир',
      'Tiếng Việt',
      'ελληνικά',
      '日本語',
    ])
      expect(columnsOf(words)).toBe(visibleWidth(words))
  })

  it('wrap between words and say when there is more', () => {
    expect(wrap('one two three four', 9, 5)).toEqual(['one two', 'three', 'four'])
    expect(wrap('one two three four', 9, 2)).toEqual(['one two', 'three fo…'])
    expect(wrap('abcdefghij kl', 4, 9)).toEqual(['abcd', 'efgh', 'ij', 'kl'])
    expect(wrap('', 10, 3)).toEqual([''])
    fc.assert(
      fc.property(
        clean,
        fc.integer({ min: 2, max: 90 }),
        fc.integer({ min: 1, max: 6 }),
        (words, columns, most) => {
          const lines = wrap(words, columns, most)
          expect(lines.length).toBeLessThanOrEqual(most)
          for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(columns)
        },
      ),
    )
  })
})
