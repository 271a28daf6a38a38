import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventFrames } from '../src/event-frames.ts'

const tooLarge = (): Error => new RangeError('too large')

/** What went through, and what stopped it. */
function pass(
  chunks: readonly Uint8Array[],
  limit = Number.MAX_SAFE_INTEGER,
): { frames: EventFrames; text: string; count: number; error?: unknown } {
  const frames = new EventFrames(limit, tooLarge)
  const passed: Buffer[] = []
  try {
    for (const chunk of chunks) for (const frame of frames.push(chunk)) passed.push(Buffer.from(frame))
  } catch (error) {
    return { frames, text: Buffer.concat(passed).toString(), count: passed.length, error }
  }
  return { frames, text: Buffer.concat(passed).toString(), count: passed.length }
}

/** `bytes` cut at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...cuts].map((from, index) => bytes.slice(from, cuts[index] ?? bytes.length))
}

const value = fc
  .stringMatching(/^[^\r\n\0]{0,12}$/)
  .map((text) => text.replace(/^ /, '').replace(/^\s*\[/, '('))
const line = fc.oneof(
  value.map((text) => `data: ${text}`),
  value.map((text) => `data:${text}`),
  value.map((text) => `: ${text}`),
  value.map((text) => `id: ${text}`),
  fc.nat(9_999).map((ms) => `retry: ${ms}`),
  fc.constantFrom('event: message', 'id', 'retry: soon', 'data', 'unknown: field'),
)
/** A stream as lists of lines; each list ends with a blank line. */
const stream = fc.array(fc.array(line, { minLength: 1, maxLength: 5 }), { maxLength: 6 })
const lineEnd = fc.constantFrom('\n', '\r', '\r\n')
const places = fc.array(fc.nat(10_000), { maxLength: 30 })

/** The last id and retry of a stream, read as the HTML standard says. */
function expected(events: readonly (readonly string[])[]): {
  id: string | undefined
  retry: number | undefined
} {
  let id: string | undefined
  let retry: number | undefined
  for (const each of events.flat()) {
    const [, name, text = ''] = /^(id|retry)(?:: ?(.*))?$/s.exec(each) ?? []
    if (name === 'id') {
      const bytes = Buffer.from(text).toString('latin1')
      id = /^[\t\x20-\x7E\x80-\xFF]+$/.test(bytes) ? bytes : undefined
    }
    if (name === 'retry' && /^\d+$/.test(text)) retry = Number(text)
  }
  return { id, retry }
}

describe('event frames', () => {
  it('pass unchanged but for their line ends, however the bytes are cut', () => {
    fc.assert(
      fc.property(stream, lineEnd, fc.boolean(), places, (events, end, bom, cuts) => {
        const lines = (each: string): string =>
          events.map((event) => `${event.join(each)}${each}${each}`).join('')
        const bytes = Buffer.from(`${bom ? '\uFEFF' : ''}${lines(end)}`)
        const { frames, text, error } = pass(cut(bytes, cuts))
        expect(error).toBeUndefined()
        expect(text).toBe(lines('\n'))
        expect(frames.lastId).toBe(expected(events).id)
        expect(frames.retryMs).toBe(expected(events).retry)
      }),
      { numRuns: 500 },
    )
  })

  it('mix their line ends', () => {
    fc.assert(
      fc.property(stream, fc.infiniteStream(lineEnd), places, (events, ends, cuts) => {
        let last = ''
        const written = (text: string): string => {
          // A line that ends in CR and an empty one that ends in LF would be one line that ends in CRLF.
          let end = ends.next().value
          if (text === '' && last === '\r' && end === '\n') end = '\r'
          last = end
          return text + end
        }
        const bytes = Buffer.from(events.map((event) => [...event, ''].map(written).join('')).join(''))
        const { text } = pass(cut(bytes, cuts))
        expect(text).toBe(events.map((event) => `${event.join('\n')}\n\n`).join(''))
      }),
      { numRuns: 300 },
    )
  })

  it('hold back what is not complete, with its id', () => {
    fc.assert(
      fc.property(stream, fc.array(line, { minLength: 1, maxLength: 4 }), places, (events, rest, cuts) => {
        const whole = events.map((event) => `${event.join('\n')}\n\n`).join('')
        const { frames, text } = pass(cut(Buffer.from(whole + rest.join('\n')), cuts))
        expect(text).toBe(whole)
        expect(frames.lastId).toBe(expected(events).id)
      }),
    )
  })

  it('are limited one by one, in bytes, and those before the one too large pass', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 12 }),
        fc.integer({ min: 10, max: 60 }),
        places,
        (sizes, limit, cuts) => {
          // Two bytes each: the limit is not one of characters.
          const events = sizes.map((size) => `data:${'\u00e9'.repeat(size)}\n\n`)
          const fits = events.findIndex((each) => Buffer.byteLength(each) > limit)
          const { count, error } = pass(cut(Buffer.from(events.join('')), cuts), limit)
          expect(count).toBe(fits < 0 ? events.length : fits)
          expect(error !== undefined).toBe(fits >= 0)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('end at the limit when there is no end in sight', () => {
    const frames = new EventFrames(1_000, tooLarge)
    const chunk = Buffer.alloc(300, 'x')
    for (let index = 0; index < 3; index++) expect([...frames.push(chunk)]).toEqual([])
    expect(() => [...frames.push(chunk)]).toThrow('too large')
  })

  it('that are too large are left behind by their own id, or by none', () => {
    const large = 'x'.repeat(100)
    expect(pass([Buffer.from(`id: 1\ndata: a\n\nid: 2\ndata: ${large}\n\n`)], 50).frames.lastId).toBe('2')
    const unnamed = [`id: 1\ndata: a\n\ndata: ${large}`, '\nid: 2\n\n'].map((text) => Buffer.from(text))
    expect(pass(unnamed, 50).frames.lastId).toBeUndefined()
  })

  it('keep an id that no event needs, forget it when it is emptied, and refuse what a header cannot carry', () => {
    expect(pass([Buffer.from('id: 7\n\n')]).frames.lastId).toBe('7')
    expect(pass([Buffer.from('id: 7\n\nid\n\n')]).frames.lastId).toBeUndefined()
    expect(pass([Buffer.from('id: 7\n\nid: a\0b\n\n')]).frames.lastId).toBe('7')
    expect(pass([Buffer.from('id: 7\n\nid: a\u0001b\n\n')]).frames.lastId).toBeUndefined()
    expect(pass([Buffer.from(`id: ${'7'.repeat(10_000)}\n\n`)]).frames.lastId).toBeUndefined()
  })

  it('cost no more for being large', () => {
    const size = 8 * 1_048_576
    const body = Buffer.from(`data: ${'x'.repeat(size)}\n\n`)
    const chunks = Array.from({ length: Math.ceil(body.length / 8_192) }, (_, index) =>
      body.subarray(index * 8_192, (index + 1) * 8_192),
    )
    const began = performance.now()
    expect(pass(chunks).count).toBe(1)
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  it('of a batch become one message each', () => {
    const batch = 'id: 4\ndata: [{"a":1},\ndata: {"b":"\\n["}]\n\n'
    expect(pass([Buffer.from(batch)])).toMatchObject({
      text: 'data: {"a":1}\n\ndata: {"b":"\\n["}\n\n',
      frames: { lastId: '4' },
    })
    expect(pass([Buffer.from('data: [not json\n\n')]).text).toBe('data: [not json\n\n')
    expect(pass([Buffer.from('data: {"a":[1]}\n\n')]).text).toBe('data: {"a":[1]}\n\n')
  })
})
