import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFlights } from '../src/flights.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A clock that stands still until it is advanced, in steps of 10 ms. */
function clock() {
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>()
  const state = {
    time: 1_000_000,
    now: () => state.time,
    sleep: (ms: number) => new Promise<void>((wake) => void sleepers.add({ until: state.time + ms, wake })),
    async advance(ms: number, step: () => void = () => undefined) {
      await turn()
      for (const end = state.time + ms; state.time < end;) {
        state.time += 10
        step()
        for (const sleeper of sleepers) {
          if (sleeper.until > state.time) continue
          sleepers.delete(sleeper)
          sleeper.wake()
        }
        await turn()
      }
    },
  }
  return state
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
    const time = clock()
    const flights = createFlights<number>(time)
    const { begun, run, end } = job()
    const asked = Array.from({ length: 20 }, () => flights.run('a', run))
    await turn()
    expect(begun()).toBe(1)
    for (let count = 0; count < 50; count += 1) asked.push(flights.run('a', run))
    end()
    await time.advance(200)
    end()
    await Promise.all(asked)
    expect(begun()).toBe(2)
  })

  it('cost two runs, however a burst is spread over a second', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(60), { maxLength: 40 }), fc.nat(80), async (gaps, takes) => {
        let next = 0
        const due = gaps.map((gap) => (next += gap)).filter((at) => at <= 1_000)
        const time = clock()
        const flights = createFlights<number>(time)
        let runs = 0
        const work = async () => {
          runs += 1
          await time.sleep(takes)
          return runs
        }
        const asked = [flights.run('a', work)]
        await time.advance(2_000, () => {
          while (due[0] !== undefined && 1_000_000 + due[0] <= time.time) {
            due.shift()
            asked.push(flights.run('a', work))
          }
        })
        const last = Math.max(...(await Promise.all(asked)))
        expect(runs).toBe(last)
        expect(runs).toBeLessThanOrEqual(2)
      }),
      { numRuns: 50 },
    )
  })

  it('run again for who asked after the run began', async () => {
    const time = clock()
    const flights = createFlights<number>(time)
    const { begun, run, end } = job()
    const first = flights.run('a', run)
    await turn()
    const second = flights.run('a', run)
    await time.advance(500)
    expect(begun()).toBe(1)
    end()
    expect(await first).toBe(1)
    await time.advance(500)
    expect(begun()).toBe(2)
    end()
    expect(await second).toBe(2)
  })

  it('do not wait for a burst that has no end', async () => {
    const time = clock()
    const flights = createFlights<number>(time)
    const starts: number[] = []
    const work = async () => starts.push(time.time)
    void flights.run('a', work)
    await time.advance(5_000, () => void flights.run('a', work))
    expect(starts.length).toBeGreaterThan(2)
    expect((starts[1] as number) - (starts[0] as number)).toBeLessThan(2_200)
    flights.close()
  })

  it('keep keys apart, and go on after a failure', async () => {
    const time = clock()
    const flights = createFlights<number>(time)
    const failing = flights.run('a', () => Promise.reject(new Error('no')))
    const other = flights.run('b', () => Promise.resolve(1))
    await expect(failing).rejects.toThrow('no')
    expect(await other).toBe(1)
    const again = flights.run('a', () => Promise.resolve(2))
    await time.advance(200)
    expect(await again).toBe(2)
  })

  it('are spaced when every run is followed by another', async () => {
    const time = clock()
    const flights = createFlights<number>(time)
    const starts: number[] = []
    const again = (): void => {
      void flights.run('a', async () => {
        again()
        return starts.push(time.time)
      })
    }
    again()
    await time.advance(60_000)
    const spaces = starts.slice(1).map((start, index) => start - (starts[index] as number))
    expect(spaces).toEqual([100, 100, 100, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000])
    flights.close()
  })

  it('end what waits when they are closed, in real time too', async () => {
    const flights = createFlights<number>()
    await flights.run('a', () => Promise.resolve(1))
    const waiting = flights.run('a', () => Promise.resolve(2))
    flights.close()
    await expect(waiting).rejects.toThrow('closed')
  })
})
