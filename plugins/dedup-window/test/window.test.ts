import type { Trigger } from '@tapline/core'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createWindow, type DedupWindow } from '../src/window.ts'

const LENGTH_MS = 300_000

afterEach(() => void vi.useRealTimers())

/** A window whose clock the test sets, and claims named by their trace ids. */
function windowAt(start = 0): {
  readonly window: DedupWindow
  readonly at: (ms: number) => void
  readonly claim: Claim
} {
  let now = start
  const window = createWindow(LENGTH_MS, () => now)
  return {
    window,
    at: (ms) => void (now = start + ms),
    claim: (traceId, key = 'key', replacement = 'drop') =>
      window.claim({ traceId, key, replacement } as Trigger),
  }
}
type Claim = (
  traceId: string,
  key?: string,
  replacement?: Trigger['replacement'],
) => ReturnType<DedupWindow['claim']>

describe('a window', () => {
  it('makes later equals duplicates of the first, until it ends', () => {
    const { at, claim } = windowAt()
    expect(claim('1')).toMatchObject({ verdict: 'first' })
    for (const ms of [0, 1, 200_000, LENGTH_MS - 1]) {
      at(ms)
      expect(claim(`at ${ms}`)).toEqual({ verdict: 'duplicate', of: '1' })
    }
    at(LENGTH_MS)
    expect(claim('2')).toMatchObject({ verdict: 'first' })
  })

  it('is measured from the first arrival and does not slide', () => {
    const { at, claim } = windowAt()
    claim('1')
    for (let ms = 0; ms < LENGTH_MS; ms += 10_000) {
      at(ms)
      claim('again')
    }
    at(LENGTH_MS)
    expect(claim('2')).toMatchObject({ verdict: 'first' })
    at(LENGTH_MS + 1)
    expect(claim('3')).toEqual({ verdict: 'duplicate', of: '2' })
  })

  it('tells keys apart', () => {
    const { claim } = windowAt()
    claim('1', 'a')
    expect(claim('2', 'b')).toMatchObject({ verdict: 'first' })
    expect(claim('3', 'a')).toEqual({ verdict: 'duplicate', of: '1' })
  })

  it('makes the newest of what replaces wait for its end', () => {
    vi.useFakeTimers({ now: 5_000_000 })
    const { at, claim } = windowAt(77)
    expect(claim('1', 'list', 'latest_replaces')).toMatchObject({ verdict: 'first' })
    at(100_000)
    vi.setSystemTime(5_100_000)
    expect(claim('2', 'list', 'latest_replaces')).toEqual({ verdict: 'later', until: 5_000_000 + LENGTH_MS })
    at(LENGTH_MS)
    expect(claim('3', 'list', 'latest_replaces')).toMatchObject({ verdict: 'first' })
  })

  it('does not follow a clock that is set', () => {
    vi.useFakeTimers()
    const { at, claim } = windowAt()
    claim('1')
    at(1_000)
    for (const wall of ['1990-01-01', '2099-01-01']) {
      vi.setSystemTime(new Date(wall))
      expect(claim('2')).toEqual({ verdict: 'duplicate', of: '1' })
    }
  })

  it('uses a clock that only goes forward', () => {
    vi.useFakeTimers()
    const window = createWindow(LENGTH_MS)
    const claim = (traceId: string) => window.claim({ traceId, key: 'key', replacement: 'drop' } as Trigger)
    claim('1')
    vi.setSystemTime(Date.now() + 10 * LENGTH_MS)
    expect(claim('2')).toEqual({ verdict: 'duplicate', of: '1' })
    vi.advanceTimersByTime(LENGTH_MS)
    expect(claim('3')).toMatchObject({ verdict: 'first' })
  })

  it('is free again when the first was not delivered', () => {
    const { at, claim } = windowAt()
    const first = claim('1')
    if (first.verdict !== 'first') throw new Error('not the first')
    first.failed?.()
    const second = claim('2')
    expect(second).toMatchObject({ verdict: 'first' })
    // An old claim does not free a new one.
    first.failed?.()
    at(1)
    expect(claim('3')).toEqual({ verdict: 'duplicate', of: '2' })
  })

  it('does what the plainest window does', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      wait: fc.constantFrom(0, 1, 1_000, 100_000, LENGTH_MS - 1, LENGTH_MS),
      fails: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { at, claim } = windowAt(123)
        const plain = new Map<string, { readonly at: number; readonly traceId: string }>()
        let now = 0
        for (const [index, { key, wait, fails }] of steps.entries()) {
          at((now += wait))
          const earlier = plain.get(key)
          const verdict = claim(String(index), key)
          const isOpen = earlier !== undefined && now - earlier.at < LENGTH_MS
          expect(verdict).toMatchObject(
            isOpen ? { verdict: 'duplicate', of: earlier.traceId } : { verdict: 'first' },
          )
          if (!isOpen) plain.set(key, { at: now, traceId: String(index) })
          if (verdict.verdict !== 'first' || !fails) continue
          verdict.failed?.()
          plain.delete(key)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('forgets the oldest first when there are too many keys', () => {
    const { claim } = windowAt()
    for (let n = 0; n < 150_000; n++) claim(`${n}`, `key ${n}`)
    expect(claim('again', 'key 149999')).toEqual({ verdict: 'duplicate', of: '149999' })
    expect(claim('again', 'key 50001')).toEqual({ verdict: 'duplicate', of: '50001' })
    expect(claim('again', 'key 49000')).toMatchObject({ verdict: 'first' })
    expect(claim('again', 'key 0')).toMatchObject({ verdict: 'first' })
  })
})
