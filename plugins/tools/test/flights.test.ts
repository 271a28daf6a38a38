import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFlights } from '../src/flights.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A clock on which sleeping takes no time, and which wakes the world at each step. */
function clock(step: () => void = () => undefined) {
  const state = { time: 1_000_000, slept: [] as number[] }
  const sleep = async (ms: number) => {
    state.slept.push(ms)
    for (let passed = 0; passed < ms; passed += 10) {
      state.time += 10
      step()
      await Promise.resolve()
    }
  }
  return Object.assign(state, { now: () => state.time, sleep })
}

/** Work that ends when it is told to. */
function job() {
  const ends: (() => void)[] = []
  return {
    begun: () => ends.length,
    run: () => new Promise<number>((resolve) => ends.push(() => resolve(ends.length))),
    end: () => ends.at(-1)?.(),
  }
}

describe('flights', () => {
  it('cost two runs, however many ask at once', async () => {
    const flights = createFlights<number>(clock())
    const { begun, run, end } = job()
    const asked = Array.from({ length: 20 }, () => flights.run('a', run))
    await turn()
    expect(begun()).toBe(1)
    for (let count = 0; count < 50; count += 1) asked.push(flights.run('a', run))
    end()
    await turn()
    end()
    await Promise.all(asked)
    expect(begun()).toBe(2)
  })

  it('cost two runs, however a burst is spread over a second', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(60), { maxLength: 30 }), fc.nat(40), async (gaps, takes) => {
        let due = gaps
          .map((_, index) => gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0))
          .filter((at) => at < 1_000)
        const asked: Promise<number>[] = []
        let runs = 0
        const time = clock(() => {
          const ask = due.filter((at) => 1_000_000 + at <= time.time)
          due = due.filter((at) => !ask.includes(at))
          for (const _ of ask) asked.push(flights.run('a', work))
        })
        const flights = createFlights<number>(time)
        const work = async () => {
          runs += 1
          await time.sleep(takes)
          return runs
        }
        asked.push(flights.run('a', work))
        await turn()
        await time.sleep(5_000)
        await turn()
        await Promise.all(asked)
        expect(runs).toBeLessThanOrEqual(2)
      }),
      { numRuns: 200 },
    )
  })

  it('run again for who asked after the run began', async () => {
    const flights = createFlights<number>(clock())
    const { begun, run, end } = job()
    const first = flights.run('a', run)
    await turn()
    const second = flights.run('a', run)
    await turn()
    expect(begun()).toBe(1)
    end()
    expect(await first).toBe(1)
    await turn()
    expect(begun()).toBe(2)
    end()
    expect(await second).toBe(2)
  })

  it('keep keys apart, and go on after a failure', async () => {
    const flights = createFlights<number>(clock())
    const failing = flights.run('a', () => Promise.reject(new Error('no')))
    const other = flights.run('b', () => Promise.resolve(1))
    await expect(failing).rejects.toThrow('no')
    expect(await other).toBe(1)
    expect(await flights.run('a', () => Promise.resolve(2))).toBe(2)
  })

  it('are spaced when every run is followed by another', async () => {
    const time = clock()
    const flights = createFlights<number>(time)
    for (let count = 0; count < 13; count += 1) await flights.run('a', () => Promise.resolve(count))
    const starts = time.slept.filter((ms) => ms > 100)
    expect(starts).toEqual([150, 400, 900, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    time.time += 120_000
    time.slept.length = 0
    await flights.run('a', () => Promise.resolve(0))
    expect(time.slept).toEqual([])
  })

  it('end what waits when they are closed, in real time too', async () => {
    const flights = createFlights<number>()
    await flights.run('a', () => Promise.resolve(1))
    const waiting = flights.run('a', () => Promise.resolve(2))
    flights.close()
    await expect(waiting).rejects.toThrow('closed')
  })
})
