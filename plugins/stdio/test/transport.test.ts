import { describe, expect, test } from 'vitest'
import { echo } from './opened.ts'
import { eventually } from './support.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const frame = (method: string): string => `{"jsonrpc":"2.0","method":"${method}"}\n`

describe('frames', () => {
  test('go there and back in order', async () => {
    const server = await echo()
    const values = Array.from({ length: 50 }, (_, index) => ({
      index,
      text: `🙂 ü\n\u2028\u0085${'x'.repeat(index * 100)}`,
    }))
    expect(await Promise.all(values.map((value) => server.ask('echo', value)))).toEqual(values)
    expect(server.frames.map(({ id }) => id)).toEqual(values.map(({ index }) => index + 1))
    expect(server.transport.pid).toBeGreaterThan(1)
    expect('stderr' in server.transport).toBe(true)
  })

  test('a large one in each direction', async () => {
    const server = await echo()
    const text = 'ü'.repeat(2_000_000)
    expect(await server.ask('echo', { text })).toEqual({ text })
  })

  test('noise between them is skipped, counted and reported', async () => {
    const server = await echo()
    const reported = new Promise<void>((resolve) => (server.transport.onreport = resolve))
    await server.ask('raw', { base64: base64(`starting\n\n${frame('push')}{}\n`) })
    await reported
    expect(server.transport.report()).toEqual({ skippedLines: 3 })
    expect(server.frames[0]).toEqual({ jsonrpc: '2.0', method: 'push' })
  })

  test('a listener that throws is told to onerror, and the next frame still comes', async () => {
    const server = await echo()
    const listener = server.transport.onmessage
    server.transport.onmessage = (message, extra) => {
      if (message.method === 'bad') throw new Error('listener')
      listener?.(message, extra)
    }
    await server.ask('raw', { base64: base64(frame('bad') + frame('good')) })
    expect(server.errors.map(({ message }) => message)).toEqual(['listener'])
    expect(server.frames[0]?.method).toBe('good')
  })

  test('one over the limit ends the connection', async () => {
    const server = await echo({ maxFrameBytes: 1_000 })
    await server.tell('raw', { base64: base64(frame('before')) })
    await server.tell('raw', { base64: base64('x'), times: 1_000_000 })
    await server.closed
    expect(server.errors).toMatchObject([{ code: 'LIMIT_EXCEEDED' }])
    expect(server.transport.report().ending).toBe('server sent a message of more than 1000 bytes')
    expect(server.frames.map(({ method }) => method)).toEqual(['before'])
    await server.transport.close()
    expect(server.closes).toBe(1)
  })
})

test('stderr is reported while the server runs', async () => {
  const server = await echo()
  let reports = 0
  server.transport.onreport = () => reports++
  for (let index = 0; index < 20; index++) await server.tell('stderr', { text: `step ${index}\n` })
  await eventually('the report', () => server.transport.report().lastStderr === 'step 19' && reports > 0)
  expect(reports).toBeLessThan(10)
})

test('closing is quick for a server that ends with its input', async () => {
  const server = await echo({ endGraceMs: 20_000 })
  await server.ask('echo')
  await Promise.all([server.transport.close(), server.transport.close()])
  expect(server.closes).toBe(1)
  expect(server.transport.report()).toEqual({})
})
