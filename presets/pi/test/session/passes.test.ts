import { describe, expect, it } from 'vitest'
import { createPasses, inSlices, unlessAborted } from '../../src/session/passes.ts'

/** Longer than a slice. */
const LONG_MS = 15

function busy(ms = LONG_MS): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** Passes of three long steps each; `log` has what was done, as `<pass>.<step>`. */
function threeSteps(log: string[]) {
  let pass = 0
  const failed: unknown[] = []
  const passes = createPasses({
    *steps() {
      pass += 1
      for (const step of [1, 2, 3]) {
        busy()
        log.push(`${pass}.${step}`)
        if (step < 3) yield
      }
    },
    failed: (thrown) => failed.push(thrown),
  })
  return { passes, failed }
}

describe('work in slices', () => {
  it('lets others come in between, and answers what it came to', async () => {
    const log: string[] = []
    function* steps(): Generator<void, string> {
      for (const step of ['a', 'b', 'c']) {
        busy()
        log.push(step)
        yield
      }
      return 'done'
    }
    const working = inSlices(steps())
    expect(log).toEqual(['a'])
    for (const other of ['1', '2', '3']) setImmediate(() => log.push(other))
    expect(await working).toBe('done')
    expect(log.filter((entry) => 'abc'.includes(entry))).toEqual(['a', 'b', 'c'])
    expect(log.indexOf('1')).toBeLessThan(log.indexOf('c'))
  })

  it('is over at once where it is little', async () => {
    const log: number[] = []
    void inSlices(
      (function* () {
        for (let n = 0; n < 100; n++) yield log.push(n)
      })(),
    )
    expect(log).toHaveLength(100)
  })

  it('ends when it is to stop', async () => {
    let steps = 0
    let stops = false
    const working = inSlices(
      (function* () {
        for (;;) {
          steps += 1
          busy()
          yield
        }
      })(),
      () => stops,
    )
    stops = true
    expect(await working).toBeUndefined()
    expect(steps).toBe(1)
  })
})

describe('passes', () => {
  it('are not mixed: what is asked for meanwhile is one pass, after the one that is under way', async () => {
    const log: string[] = []
    const { passes } = threeSteps(log)
    const first = passes.run()
    const [second, third] = [passes.run(), passes.run()]
    expect(third).toBe(second)
    expect(passes.done()).toBe(second)
    await first
    expect(log.slice(0, 3)).toEqual(['1.1', '1.2', '1.3'])
    await second
    expect(log).toEqual(['1.1', '1.2', '1.3', '2.1', '2.2', '2.3'])
    await passes.done()
    await passes.run()
    expect(log.slice(6)).toEqual(['3.1', '3.2', '3.3'])
  })

  it('go on after one has failed', async () => {
    let fails = true
    const failed: unknown[] = []
    let done = 0
    const passes = createPasses({
      *steps() {
        yield
        if (fails) throw new Error('on purpose')
        done += 1
      },
      failed: (thrown) => failed.push(thrown),
    })
    await passes.run()
    expect(failed).toEqual([new Error('on purpose')])
    fails = false
    await passes.run()
    expect(done).toBe(1)
  })

  it('end for good', async () => {
    const log: string[] = []
    const { passes } = threeSteps(log)
    const [running, next] = [passes.run(), passes.run()]
    passes.end()
    await Promise.all([running, next, passes.run(), passes.done()])
    expect(log).toEqual(['1.1'])
  })

  it('are not waited for by whoever has given up', async () => {
    const never = new Promise<void>(() => undefined)
    await expect(unlessAborted(never, AbortSignal.abort())).resolves.toBeUndefined()
    const giving = new AbortController()
    const waiting = unlessAborted(never, giving.signal)
    giving.abort()
    await expect(waiting).resolves.toBeUndefined()
    await expect(unlessAborted(Promise.resolve(), undefined)).resolves.toBeUndefined()
  })
})
