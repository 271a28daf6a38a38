import { describe, expect, it } from 'vitest'
import { type CompletionRequest, createCompleter } from '../src/index.ts'
import { refusal, scripted, turn } from './support.ts'

const request = (value: string, given: Readonly<Record<string, string>> = {}): CompletionRequest => ({
  prompt: 'review',
  argument: 'style',
  value,
  given: new Map(Object.entries(given)),
})
const values = (...list: unknown[]) => ({ completion: { values: list } })
const TIMES = { waitMs: 30, requestMs: 5_000, freshMs: 10_000 }

/** A server whose answers are given by hand, in the order in which it was asked. */
function manual() {
  const questions: { answer(result: unknown): void; readonly signal: AbortSignal | undefined }[] = []
  const server = scripted(
    (_method, _params, signal) =>
      new Promise((resolve, reject) => {
        questions.push({ answer: resolve, signal })
        signal?.addEventListener('abort', () => reject(new Error('aborted')))
      }),
  )
  return { server, questions }
}

describe('completion', () => {
  it('asks the server as the protocol says, with what is given already', async () => {
    const server = scripted(() => values('brief', 'bold'))
    const completer = createCompleter()
    expect(await completer.complete(server, request('b', { file: 'a.ts' }))).toEqual(['brief', 'bold'])
    await completer.complete(server, request(''))
    expect(server.asked).toEqual([
      [
        'completion/complete',
        {
          ref: { type: 'ref/prompt', name: 'review' },
          argument: { name: 'style', value: 'b' },
          context: { arguments: { file: 'a.ts' } },
        },
      ],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'style', value: '' } },
      ],
    ])
  })

  it('asks nobody who does not complete, and nobody twice for the same', async () => {
    const mute = scripted(() => values('x'), { prompts: {} })
    const completer = createCompleter()
    expect(await completer.complete(mute, request(''))).toEqual([])
    expect(mute.asked).toEqual([])
    const server = scripted(() => values('x'))
    await completer.complete(server, request('a'))
    await completer.complete(server, request('a'))
    expect(server.asked).toHaveLength(1)
    await completer.complete(server, request('a', { file: 'b' }))
    expect(server.asked).toHaveLength(2)
  })

  it('asks again when an answer is old', async () => {
    const server = scripted(() => values('x'))
    const completer = createCompleter({ ...TIMES, freshMs: 0 })
    await completer.complete(server, request('a'))
    await completer.complete(server, request('a'))
    expect(server.asked).toHaveLength(2)
  })

  it('has nothing when a server fails, and does not ask again one that knows no completion', async () => {
    const completer = createCompleter({ ...TIMES, freshMs: 0 })
    for (const [code, times] of [
      [-32_601, 1],
      [-32_602, 2],
      [undefined, 2],
    ] as const) {
      const server = scripted(() => {
        throw refusal('no', code)
      })
      expect(await completer.complete(server, request('a'))).toEqual([])
      expect(await completer.complete(server, request('a'))).toEqual([])
      expect(server.asked).toHaveLength(times)
    }
  })

  it('is not waited for long; a late answer is there when the same is asked again', async () => {
    const { server, questions } = manual()
    const completer = createCompleter(TIMES)
    const from = performance.now()
    expect(await completer.complete(server, request('a'))).toEqual([])
    expect(performance.now() - from).toBeLessThan(400)
    questions[0]?.answer(values('late'))
    await turn()
    expect(await completer.complete(server, request('a'))).toEqual(['late'])
    expect(questions).toHaveLength(1)
  })

  it('is under way once for each server: the same question joins it, another takes its place', async () => {
    const { server, questions } = manual()
    const completer = createCompleter({ ...TIMES, waitMs: 5_000 })
    const first = completer.complete(server, request('a'))
    const same = completer.complete(server, request('a'))
    expect(questions).toHaveLength(1)
    const next = completer.complete(server, request('ab'))
    expect(questions[0]?.signal?.aborted).toBe(true)
    expect([await first, await same]).toEqual([[], []])
    questions[1]?.answer(values('abc'))
    expect(await next).toEqual(['abc'])
    // What was given up was no answer.
    void completer.complete(server, request('a'))
    expect(questions).toHaveLength(3)
  })

  it('ends at once when nobody waits any more, and with the session', async () => {
    const { server, questions } = manual()
    const completer = createCompleter({ ...TIMES, waitMs: 60_000 })
    const stop = new AbortController()
    const waiting = completer.complete(server, request('a'), stop.signal)
    stop.abort()
    expect(await waiting).toEqual([])
    expect(await completer.complete(server, request('a'), AbortSignal.abort())).toEqual([])
    expect(questions[0]?.signal?.aborted).toBe(false)
    completer.close()
    expect(questions[0]?.signal?.aborted).toBe(true)
  })

  it('gives up a request that nobody answers', async () => {
    const { server, questions } = manual()
    const completer = createCompleter({ ...TIMES, requestMs: 20 })
    await completer.complete(server, request('a'))
    await expect.poll(() => questions[0]?.signal?.aborted).toBe(true)
  })

  it('hands on what fits into a line, each once, a hundred at most', async () => {
    const odd = ['a\nb', 'a\u001b[31m', '\u202ea', '', 7, null, 'x'.repeat(1_001), '\ud800']
    const completer = createCompleter()
    expect(
      await completer.complete(
        scripted(() => values('a  b', 'é', 'é', ...odd)),
        request('1'),
      ),
    ).toEqual(['a  b', 'é'])
    const many = Array.from({ length: 500 }, (_, index) => `v${index}`)
    expect(
      await completer.complete(
        scripted(() => values(...many)),
        request('2'),
      ),
    ).toEqual(many.slice(0, 100))
    for (const [index, result] of [
      undefined,
      null,
      {},
      { completion: [] },
      { completion: { values: 'a' } },
    ].entries())
      expect(
        await completer.complete(
          scripted(() => result),
          request(`3${index}`),
        ),
      ).toEqual([])
  })

  it('keeps only so many answers', async () => {
    const server = scripted(() => values('x'))
    const completer = createCompleter()
    for (let index = 0; index <= 200; index += 1) await completer.complete(server, request(`${index}`))
    await completer.complete(server, request('200'))
    expect(server.asked).toHaveLength(201)
    await completer.complete(server, request('0'))
    expect(server.asked).toHaveLength(202)
  })
})
