import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyPart } from '../src/keys.ts'
import { redact } from '../src/redaction.ts'
import { custom, triggerOf } from './raw.ts'

const UPDATED = 'notifications/resources/updated'
/** Any text that JSON can carry, lone surrogates too, with what keys are made of more often than not. */
const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      ':',
      '%',
      '/',
      'custom',
      'resources',
      'hash',
      '\uD800',
      '\uDC00',
      '\uFFFD',
      ' ',
    ),
    minLength: 1,
    maxLength: 4,
  }),
  fc.string({ unit: 'grapheme', minLength: 190, maxLength: 450 }),
)
/** `unknown` is what a missing address is called, and nothing that a resource is. */
const uri = text.filter((value) => value !== 'unknown')
const server = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', ':', '%'), minLength: 1, maxLength: 3 })

type Event = readonly [kind: 'list' | 'resource' | 'custom', server: string, detail: string, key: string]
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.tuple(
    fc.constant('list' as const),
    server,
    fc.constantFrom('tools', 'resources', 'prompts'),
    fc.constant(''),
  ),
  fc.tuple(fc.constant('resource' as const), server, uri, fc.constant('')),
  fc.tuple(
    fc.constant('custom' as const),
    server,
    text.filter((method) => !method.startsWith('notifications/')),
    text,
  ),
)

function keyOf([kind, name, detail, key]: Event): string {
  if (kind === 'list') return triggerOf(`notifications/${detail}/list_changed`, {}, name).key
  if (kind === 'resource') return triggerOf(UPDATED, { uri: detail }, name).key
  return triggerOf(detail, custom(key), name).key
}

describe('keys', () => {
  it('are equal for equal events and for no others', () => {
    fc.assert(
      fc.property(event, event, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(one.every((part, index) => part === other[index]))
      }),
      { numRuns: 3_000 },
    )
  })

  it.each<[Event, Event]>([
    [
      ['list', 'a', 'resources', ''],
      ['resource', 'a', '', ''],
    ],
    [
      ['resource', 'a', 'tools', ''],
      ['list', 'a:resources', 'tools', ''],
    ],
    [
      ['custom', 'a', 'm', 'x:y'],
      ['custom', 'a', 'm:x', 'y'],
    ],
    [
      ['custom', 'a', 'm', 'x'],
      ['custom', 'a', 'n', 'x'],
    ],
    [
      ['custom', 'a', 'm', '\uD800'],
      ['custom', 'a', 'm', '\uDBFF'],
    ],
    [
      ['custom', 'a', 'm', '\uD800'],
      ['custom', 'a', 'm', '\uFFFD'],
    ],
    [
      ['custom', 'a', 'm', 'hash:00'],
      ['custom', 'a', 'm', 'hash%3A00'],
    ],
    [
      ['custom', 'a', 'm', 'x'.repeat(201)],
      ['custom', 'a', 'm', 'x'.repeat(202)],
    ],
    [
      ['custom', 'a', 'm', 'line\n'],
      ['custom', 'a', 'm', 'line\r'],
    ],
  ])('tell %j from %j', (one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other))
  })
})

describe('one part of a key', () => {
  const HASH = /^hash:[\da-f]{32}$/

  it.each(['7', 'build-7', 'a.b_c~d', 'x'.repeat(200)])('stays as it is: %s', (part) =>
    expect(keyPart(part)).toBe(part),
  )

  it.each([
    ['a b', 'a%20b'],
    ['ä/ö', '%C3%A4%2F%C3%B6'],
    ['🐎'.repeat(2), '%F0%9F%90%8E'.repeat(2)],
    ['', ''],
  ])('is encoded: %j', (part, encoded) => expect(keyPart(part)).toBe(encoded))

  it.each([
    ['long', 'x'.repeat(201)],
    ['long in code points', '🐎'.repeat(201)],
    ['a control character', 'a\u0000b'],
    ['a C1 control', 'a\u009Bb'],
    ['a lone surrogate', 'a\uD800'],
    ['an address with a key', 'https://h/?access_token=abcdefgh'],
    ['an API key', 'sk-abcdefghijklmnopqrst'],
    ['an API key behind something', 'run.sk-abcdefghijklmnopqrst'],
    ['a Stripe key', 'sk_live_abcdefghijklmnop'],
    ['a token behind something', 'x.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc'],
    ['an AWS key behind something', 'k.AKIAIOSFODNN7EXAMPLE'],
  ])('is hashed: %s', (_what, part) => {
    expect(keyPart(part)).toMatch(HASH)
    expect(keyPart(part)).toBe(keyPart(part))
  })

  it('never shows what redaction would not', () => {
    const secretive = fc.string({
      unit: fc.constantFrom(
        'sk-',
        'eyJ',
        'a1',
        '.',
        '-',
        'sk_live_',
        'AKIA',
        'ZZZZ',
        '_',
        'ghp_',
        'hub_hs_',
        '=',
        'token',
      ),
      maxLength: 12,
    })
    fc.assert(
      fc.property(secretive, (part) => {
        const shown = keyPart(part)
        expect(HASH.test(shown) || redact(decodeURIComponent(shown)) === part).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})
