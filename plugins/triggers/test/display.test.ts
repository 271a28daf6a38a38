import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { display, displayMethod } from '../src/display.ts'
import { mapNotification } from '../src/mapping.ts'
import { custom, raw, triggerOf } from './raw.ts'

const points = (text: string): number => Array.from(text).length
// oxlint-disable-next-line no-control-regex -- what must not be shown
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u

describe('shown text', () => {
  it.each<[string, string, string]>([
    ['plain', 'build 7 failed', 'build 7 failed'],
    ['blanks', '  a   b ', 'a b'],
    ['lines', 'a\nb\r\nc\td', 'a b c d'],
    ['colours', '\u001B[31mred\u001B[0m', 'red'],
    ['a title', '\u001B]0;owned\u0007x', 'x'],
    ['a link', '\u001B]8;;http://evil\u001B\\click\u001B]8;;\u001B\\', 'click'],
    ['a device string', '\u001BPq#0\u001B\\x', 'x'],
    ['a lone escape', 'a\u001B', 'a'],
    ['a C1 sequence', '\u009B31mred', '31mred'],
    ['bidi overrides and isolates', '\u202Eevil\u202C \u2066x\u2069 \u200E\u200F\u061C', 'evil x'],
    ['invisible characters', 'a\u200Bb\u00ADc\uFEFFd\u{E0041}', 'abcd'],
    ['separators', 'a\u2028b\u2029c', 'abc'],
    ['a lone surrogate', 'a\uD800b', 'a\uFFFDb'],
    ['other scripts', 'größe 日本 🐎', 'größe 日本 🐎'],
  ])('%s', (_what, text, shown) => expect(display(text)).toBe(shown))

  it('is at most 200 code points long', () => {
    expect(display('x'.repeat(200))).toBe('x'.repeat(200))
    expect(display('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`)
    expect(display('🐎'.repeat(200))).toBe('🐎'.repeat(200))
    expect(display('🐎'.repeat(201))).toBe(`${'🐎'.repeat(199)}…`)
  })

  it('is redacted before it is cut', () => {
    const secret = 'sk-abcdefghijklmnopqrstuvwxyz'
    for (let before = 150; before <= 200; before++) {
      expect(display(`${'x'.repeat(before)} ${secret}`)).not.toContain('sk-')
    }
  })

  it('is redacted whatever is hidden inside', () => {
    expect(display('Bea\u200Brer abc123')).toBe('Bearer [REDACTED:bearer]')
    expect(display('sk-abcdef\u001B[1mghijklmnop')).toBe('[REDACTED:api-key]')
    expect(display('-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----')).toBe(
      '[REDACTED:private-key]',
    )
  })

  it('is harmless and short whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        for (const shown of [display(text), displayMethod(text)]) {
          expect(shown).not.toMatch(HARMFUL)
          expect(points(shown)).toBeLessThanOrEqual(200)
        }
      }),
      { numRuns: 500 },
    )
  })

  it.each(['\u001B[', '\u001B]', '\u001BP', '\u202E', ' ', '\n', '🐎', '\uD800', 'x', '\u200B'])(
    'costs little for 100 kB of %j',
    (unit) => {
      const text = unit.repeat(100_000)
      expect(points(display(text))).toBeLessThanOrEqual(200)
      expect(points(displayMethod(text))).toBeLessThanOrEqual(100)
    },
  )
})

describe('everything of a trigger', () => {
  it('is harmless and bounded, whatever the server sent', () => {
    const anything = fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.anything())
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        anything,
        anything,
        anything,
        (method, key, summary, uri) => {
          for (const notice of [
            mapNotification(raw(method, { ...custom(key, summary) })),
            mapNotification(raw('notifications/resources/updated', { uri })),
          ]) {
            const texts =
              notice.kind === 'trigger'
                ? [notice.method, notice.key, notice.summary]
                : notice.kind === 'drop'
                  ? [notice.error ?? '']
                  : []
            for (const text of texts) {
              expect(text).not.toMatch(HARMFUL)
              expect(points(text)).toBeLessThanOrEqual(5_000)
            }
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('bounds what a server calls its method', () => {
    const { method, summary, key } = triggerOf(`m\u001B[2J\n${'x'.repeat(100_000)}`, custom('7', 'text'))
    expect(method).toMatch(/^m x+…$/)
    expect(points(method)).toBe(100)
    expect(summary).toBe(`${method} text`)
    expect(key).toMatch(/^mcp:builds:custom:hash:[\da-f]{32}:7$/)
  })

  it('never holds a secret', () => {
    const secret = 'sk-abcdefghijklmnopqrstuvwxyz'
    for (const notice of [
      triggerOf('m', custom(secret, `it is ${secret}`)),
      triggerOf('notifications/resources/updated', { uri: `x:${secret}` }),
      mapNotification(raw(`m/${secret}`, custom('7'))),
      mapNotification(raw(`m/${secret}`)),
    ]) {
      expect(JSON.stringify(notice)).not.toContain('sk-abc')
    }
  })
})
