import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanLines, cleanText, cut } from '../src/index.ts'

const points = (text: string): number => Array.from(text).length
const HARMFUL =
  /[\p{Cc}\p{Cs}\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/u

describe('text from outside', () => {
  it.each([
    ['a  b\n\tc ', 'a b c'],
    ['\u001B[31mred\u001B[0m', 'red'],
    ['\u001B]0;title\u0007x\u001B]8;;http://a\u001B\\y', 'xy'],
    ['\u001BP1$r\u001B\\x', 'x'],
    ['evil\u202Etxt', 'evil txt'],
    ['a\u0000\u009Bb', 'a b'],
    ['größe 日本 🐎', 'größe 日本 🐎'],
    ['a\uD800', 'a\uFFFD'],
  ])('%j is shown as %j', (text, shown) => expect(cleanText(text, 100)).toBe(shown))

  it('keeps its lines and tabs where they are wanted', () => {
    expect(cleanLines('a\u001B[1m\tb\r\nc\rd\u0007\n\u202Ee\uD800')).toBe('a\tb\nc\nd\ne\uFFFD')
  })

  it('is one harmless and short line, whatever it was', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.integer({ min: 1, max: 50 }),
        (text, limit) => {
          const shown = cleanText(text, limit)
          expect(shown).not.toMatch(HARMFUL)
          expect(points(shown)).toBeLessThanOrEqual(limit)
          expect(cleanLines(text).replaceAll(/[\n\t]/g, '')).not.toMatch(HARMFUL)
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each(['\u001B[', '\u001B]', '\u001BP', '\u001B', '\u200B', ' ', '\r', '🐎', '\uD83D', 'x'])(
    'costs little for a megabyte of %j',
    (unit) => {
      const text = unit.repeat(1_000_000)
      expect(points(cleanText(text, 200))).toBeLessThanOrEqual(200)
      expect(cleanText(text, 200)).not.toMatch(HARMFUL)
      expect(cleanLines(text).length).toBeLessThanOrEqual(text.length)
    },
  )

  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['🐎🐎🐎', 3, '🐎🐎🐎'],
    ['🐎🐎🐎🐎', 3, '🐎🐎…'],
    ['abc', 1, '…'],
  ])('%j, cut to %d, is %j', (text, limit, short) => expect(cut(text, limit)).toBe(short))
})
