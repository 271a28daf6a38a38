import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { StderrTail } from '../src/stderr.ts'

function tail(...chunks: readonly (string | Uint8Array)[]) {
  const stderr = new StderrTail()
  for (const chunk of chunks) stderr.push(Buffer.from(chunk as string))
  return stderr.report()
}

test('the last line with anything on it', () => {
  expect(tail('one\n', 'two\n', '\n  \n')).toEqual({ lastStderr: 'two', stderrTail: 'one\ntwo' })
  expect(tail('one\npanic')).toMatchObject({ lastStderr: 'panic' })
  expect(tail('  \n')).toEqual({})
  expect(tail()).toEqual({})
})

test('a character split over chunks stays whole', () => {
  const bytes = Buffer.from('größer 🙂\n')
  expect(tail(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toMatchObject({ lastStderr: 'größer 🙂' })
})

test('nothing in it can steer a terminal or hide text', () => {
  const { lastStderr } = tail(
    '\u001B[31mred\u001B[0m \u001B]0;title\u0007\u009B1mbold\u202Eevil\u2066\u0000\u0008 end\n',
  )
  expect(lastStderr).toBe('red boldevil end')
})

test('an escape sequence split over chunks is stripped too', () => {
  expect(tail('a\u001B', '[3', '1mb\n')).toMatchObject({ lastStderr: 'ab' })
})

test('the last picture of a progress bar', () => {
  expect(tail('\r 10 %\r 50 %\r100 %\r\n')).toMatchObject({ lastStderr: '100 %' })
})

test('no value that the server was told to keep', () => {
  const stderr = new StderrTail(['sk-12345678-long', 'sk-12345678'])
  stderr.push(Buffer.from('key sk-123456'))
  stderr.push(Buffer.from('78-long is not valid, nor sk-12345678\nsk-\u001B[1m12345678'))
  expect(stderr.report()).toEqual({ lastStderr: '…', stderrTail: 'key … is not valid, nor …\n…' })
})

test('bounds', () => {
  const long = tail(`${'🙂'.repeat(300)}\n`)
  expect(Array.from(long.lastStderr!)).toHaveLength(200)
  expect(long.lastStderr!.endsWith('…')).toBe(true)
  const many = tail(...Array.from({ length: 5_000 }, (_, index) => `line ${index} ä\n`))
  expect(many.lastStderr).toBe('line 4999 ä')
  expect(many.stderrTail).toMatch(/^line \d+ ä\n/)
  expect(Buffer.byteLength(many.stderrTail!)).toBeLessThanOrEqual(8 * 1024)
  const endless = tail('ä'.repeat(100_000))
  expect(Buffer.byteLength(endless.stderrTail!)).toBeLessThanOrEqual(8 * 1024)
  expect(endless.stderrTail).not.toContain('\uFFFD')
})

test('arbitrary bytes never throw and the bounds hold', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 3_000, size: 'max' }), { maxLength: 10 }), (chunks) => {
      const { lastStderr = '', stderrTail = '' } = tail(...chunks)
      expect(Array.from(lastStderr).length).toBeLessThanOrEqual(200)
      expect(Buffer.byteLength(stderrTail)).toBeLessThanOrEqual(8 * 1024)
      expect(stderrTail).not.toMatch(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/u)
    }),
    { numRuns: 100 },
  )
})
