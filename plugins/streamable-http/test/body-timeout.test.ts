import { describe, expect, it } from 'vitest'
import { failuresOf } from '../src/failures.ts'
import { openPushStream } from '../src/push-stream.ts'
import { Recorder } from './recorder.ts'

/** An event stream that ends as undici ends a body that was silent for too long. */
const cutOff = (): Response =>
  new Response(
    new ReadableStream({
      start: (controller) =>
        controller.error(
          new TypeError('terminated', {
            cause: Object.assign(new Error(), { code: 'UND_ERR_BODY_TIMEOUT' }),
          }),
        ),
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )

describe('the HTTP client’s own limit on silence', () => {
  it('is one more quiet end of the event stream', async () => {
    const stop = new AbortController()
    const asked = new Recorder<string | undefined>()
    const news: unknown[] = []
    const note = (what: unknown): void => void news.push(what)
    openPushStream({
      capBytes: 1_000,
      idleMs: 60_000,
      maxDelayMs: 60_000,
      failures: failuresOf((_code, message) => new Error(message), {
        origin: 'http://127.0.0.1',
        server: 'subject',
        credential: 'none',
      }),
      stop: stop.signal,
      inSession: true,
      open: (lastEventId) => {
        asked.push(lastEventId)
        return asked.items.length < 3 ? Promise.resolve(cutOff()) : new Promise(() => undefined)
      },
      onState: note,
      onResumed: () => note('resumed'),
      onSessionLost: note,
      onRefused: () => undefined,
      onError: note,
    })
    await asked.count(3)
    stop.abort()
    expect(news).toEqual(['connecting', 'open', 'open'])
  })
})
