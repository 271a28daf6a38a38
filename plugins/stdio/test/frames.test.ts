import type { Frame } from '@tapline/core'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { FrameReader } from '../src/frames.ts'

const MIB = 1024 * 1024

function read(chunks: readonly Uint8Array[], limit = MIB): { frames: Frame[]; skipped: number; ok: boolean } {
  const frames: Frame[] = []
  const reader = new FrameReader(limit, (frame) => frames.push(frame))
  const ok = chunks.map((chunk) => reader.push(Buffer.from(chunk))).every(Boolean)
  reader.end()
  return { frames, skipped: reader.skipped, ok }
}

/** `bytes` cut at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const line = (frame: unknown): string => `${JSON.stringify(frame)}\n`
const push = (uri: string): Frame => ({
  jsonrpc: '2.0',
  method: 'notifications/resources/updated',
  params: { uri },
})

const anyFrame = fc.oneof(
  fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.integer(), fc.string()),
    result: fc.json().map((json) => JSON.parse(json)),
  }),
  fc.record({
    jsonrpc: fc.constant('2.0'),
    method: fc.string({ unit: 'grapheme' }),
    params: fc.dictionary(fc.string(), fc.jsonValue()),
  }),
)

describe('any chunking equals the whole', () => {
  test('frames, noise, CRLF and blank lines', () => {
    const anyLine = fc.oneof(
      anyFrame.map((frame) => JSON.stringify(frame)),
      fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')),
    )
    const ended = fc.tuple(anyLine, fc.constantFrom('\n', '\r\n', '\n\n')).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(ended), fc.array(fc.nat(), { maxLength: 40 }), (lines, places) => {
        const bytes = Buffer.from(lines.join(''))
        expect(read(cut(bytes, places))).toEqual(read([bytes]))
      }),
      { numRuns: 150 },
    )
  })

  test('every frame comes out as it was, byte by byte', () => {
    fc.assert(
      fc.property(fc.array(anyFrame), (frames) => {
        const bytes = Buffer.from(frames.map(line).join(''))
        expect(read(Array.from(bytes, (byte) => Buffer.of(byte))).frames).toEqual(
          JSON.parse(JSON.stringify(frames)),
        )
      }),
      { numRuns: 100 },
    )
  })

  test('arbitrary bytes never throw, and lines are frames or skipped', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
        const { frames, skipped } = read(chunks)
        expect(frames.length + skipped).toBeGreaterThanOrEqual(
          Buffer.concat(chunks).toString('latin1').split('\n').length - 1,
        )
      }),
      { numRuns: 300 },
    )
  })
})

describe('one line', () => {
  test.each([
    ['a blank line', '\n'],
    ['a line of blanks', ' \t \r\n'],
    ['a log line', 'Server listening on stdio\n'],
    ['broken JSON', '{"jsonrpc":"2.0","method":\n'],
    ['a number', '42\n'],
    ['an empty batch', '[]\n'],
    ['JSON that is no message', '{"level":"info","msg":"started"}\n'],
    ['JSON-RPC 1.0', '{"jsonrpc":"1.0","method":"x"}\n'],
    ['neither request nor response', '{"jsonrpc":"2.0","id":1}\n'],
    ['a method that is no text', '{"jsonrpc":"2.0","method":5}\n'],
    ['parameters that are text', '{"jsonrpc":"2.0","method":"x","params":"y"}\n'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"result":1}\n'],
  ])('%s is skipped and counted', (_, text) => {
    expect(read([Buffer.from(text + line(push('after')))])).toEqual({
      frames: [push('after')],
      skipped: 1,
      ok: true,
    })
  })

  test.each([
    ['an error without an id', { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } }],
    [
      'an error with the id null',
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } },
    ],
    ['a result of null', { jsonrpc: '2.0', id: 1, result: null }],
    ['a request', { jsonrpc: '2.0', id: 'a', method: 'ping' }],
  ])('%s is a frame', (_, frame) => {
    expect(read([Buffer.from(line(frame))]).frames).toEqual([frame])
  })

  test('a batch is delivered one by one, and what is no message in it is counted', () => {
    const batch = [push('a'), 1, push('b'), [push('c')]]
    expect(read([Buffer.from(line(batch))])).toEqual({ frames: [push('a'), push('b')], skipped: 2, ok: true })
  })

  test('a byte order mark, blanks before a message and parameters of null do no harm', () => {
    const text = `\uFEFF${line(push('a'))}  ${line(push('b'))}${line({ jsonrpc: '2.0', method: 'x', params: null })}`
    expect(read([Buffer.from(text)]).frames).toEqual([push('a'), push('b'), { jsonrpc: '2.0', method: 'x' }])
  })

  test('the last line may lack its end', () => {
    expect(read([Buffer.from(line(push('a')).trimEnd())]).frames).toEqual([push('a')])
  })
})

describe('the limit', () => {
  const exact = Buffer.from(line(push('x'.repeat(100))))
  const size = exact.length - 1

  test('holds to the byte, however the line is chunked', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 5 }), (places) => {
        expect(read(cut(exact, places), size)).toMatchObject({ ok: true, skipped: 0 })
        expect(read(cut(exact, places), size - 1)).toMatchObject({ ok: false, frames: [] })
      }),
    )
  })

  test('frames before it are delivered, nothing after it', () => {
    const bytes = Buffer.concat([Buffer.from(line(push('a'))), exact, Buffer.from(line(push('b')))])
    expect(read([bytes, Buffer.from(line(push('c')))], size - 1)).toEqual({
      frames: [push('a')],
      skipped: 0,
      ok: false,
    })
  })
})

test('the bytes of one large frame are searched once and copied a bounded number of times', () => {
  const bytes = Buffer.from(line(push('x'.repeat(4 * MIB))))
  const places = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, index) => index * 1024)
  const copy = vi.spyOn(Buffer.prototype, 'copy')
  const search = vi.spyOn(Buffer.prototype, 'indexOf')
  onTestFinished(() => void vi.restoreAllMocks())
  const chunks = cut(bytes, places)
  expect(read(chunks, 8 * MIB).frames).toHaveLength(1)
  const copied = copy.mock.results.reduce((sum, { value }) => sum + Number(value), 0)
  // Once into the buffer, and on average once or twice when it doubles.
  expect(copied).toBeLessThan(3 * bytes.length)
  expect(search.mock.calls.length).toBeLessThanOrEqual(2 * chunks.length)
})
