import type { Trigger } from '@tapline/core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  createPlace,
  type FilesInTurn,
  filesInTurn,
  first,
  openSession,
  type Place,
  type Session,
  trigger,
} from './place.ts'

const WINDOW_MS = 300_000
const START = 1_750_000_000_000

let place: Place
let turns: FilesInTurn
let a: Session
let b: Session

/** Two windows of one project; the clock stands at zero. */
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: START })
  place = createPlace()
  turns = filesInTurn()
  a = await openSession(place, {}, turns)
  b = await openSession(place, {}, turns)
})
afterEach(() => void vi.useRealTimers())

/** Time passes: it is now this many milliseconds after the start. */
async function at(ms: number): Promise<void> {
  await turns.quiet()
  vi.advanceTimersByTime(START + ms - Date.now())
}

/** A push that replaces, received this many milliseconds after the start. */
const push = (traceId: string, receivedMs: number): Trigger =>
  trigger(traceId, { replacement: 'latest_replaces', receivedAt: START + receivedMs })

const end = (ms: number) => ({ verdict: 'later', until: START + ms + WINDOW_MS + 2 })
const duplicate = (of: string) => ({ verdict: 'duplicate', of })

it('takes the first event of another window for the same push', async () => {
  first(await a.ask(push('a1', 0))).done?.()
  await at(50)
  expect(await b.ask(push('b1', 3))).toEqual(duplicate('a1'))
  // The next ones are new, though they come soon.
  await at(100)
  expect(await a.ask(push('a2', 90))).toEqual(end(0))
  expect(await b.ask(push('b2', 91))).toEqual(end(0))
})

it('takes a first event that comes late for a new one', async () => {
  first(await a.ask(push('a1', 0))).done?.()
  await at(2_001)
  expect(await b.ask(push('b2', 2_001))).toEqual(end(0))
})

it('evaluates the newest once more when the window ends, in one of the windows', async () => {
  first(await a.ask(push('a1', 0))).done?.()
  expect(await b.ask(push('b1', 2))).toEqual(duplicate('a1'))
  await at(100_000)
  expect(await a.ask(push('a2', 100_000))).toEqual(end(0))
  expect(await b.ask(push('b2', 100_003))).toEqual(end(0))

  await at(WINDOW_MS + 2)
  const trailing = first(await b.ask(push('b2', 100_003), true))
  expect(await a.ask(push('a2', 100_000), true)).toMatchObject({ verdict: 'later', of: 'b2' })
  trailing.done?.()
  await at(WINDOW_MS + 1_002)
  expect(await a.ask(push('a2', 100_000), true)).toEqual(duplicate('b2'))
  // That has opened the next window.
  expect(await a.ask(push('a3', WINDOW_MS + 1_002))).toEqual(end(WINDOW_MS + 2))
  expect(await b.ask(push('b3', WINDOW_MS + 1_003))).toEqual(end(WINDOW_MS + 2))
})

it('keeps what came after the trailing claim of another window', async () => {
  first(await a.ask(push('a1', 0))).done?.()
  await at(200_000)
  expect(await b.ask(push('b2', 200_000))).toEqual(end(0))
  await at(WINDOW_MS + 2)
  first(await a.ask(push('a2', 150_000), true)).done?.()
  expect(await b.ask(push('b2', 200_000), true)).toEqual(duplicate('a2'))
  await at(WINDOW_MS + 500)
  expect(await b.ask(push('b3', WINDOW_MS + 500))).toEqual(end(WINDOW_MS + 2))
})

it('is covered by the trailing claim of another window, also when a newer one was quicker', async () => {
  first(await a.ask(push('a1', 0))).done?.()
  await at(200_000)
  expect(await b.ask(push('b2', 200_000))).toEqual(end(0))
  await at(WINDOW_MS + 2)
  first(await a.ask(push('a2', 200_000), true)).done?.()
  expect(await b.ask(push('b3', WINDOW_MS + 2))).toEqual(duplicate('a2'))
  expect(await b.ask(push('b2', 200_000), true)).toEqual(duplicate('a2'))
})

it('waits for a push that another window is delivering, and hears that it was the same', async () => {
  const claim = first(await a.ask(push('a1', 0)))
  await at(10)
  expect(await b.ask(push('b1', 10))).toMatchObject({ verdict: 'later', of: 'a1', until: START + 1_010 })
  await at(1_010)
  expect(await b.ask(push('b1', 10), true)).toMatchObject({ verdict: 'later', of: 'a1' })
  claim.done?.()
  await at(2_010)
  expect(await b.ask(push('b1', 10), true)).toEqual(duplicate('a1'))
})

it('keeps a newer one that came while another window was delivering', async () => {
  const claim = first(await a.ask(push('a1', 0)))
  expect(await b.ask(push('b1', 1))).toMatchObject({ verdict: 'later', of: 'a1' })
  await at(500)
  expect(await b.ask(push('b2', 500))).toMatchObject({ verdict: 'later', of: 'a1' })
  claim.done?.()
  await at(1_001)
  expect(await b.ask(push('b2', 500), true)).toEqual(end(0))
})

it('takes over what another window failed to deliver', async () => {
  const claim = first(await a.ask(push('a1', 0)))
  expect(await b.ask(push('b1', 1))).toMatchObject({ verdict: 'later', of: 'a1' })
  claim.failed?.()
  await at(1_001)
  expect(await b.ask(push('b1', 1), true)).toMatchObject({ verdict: 'first' })
  expect(await a.ask(push('a2', 1_001))).toMatchObject({ verdict: 'later', of: 'b1' })
})

it('is not lost when its timer fires early', async () => {
  first(await a.ask(push('a1', 0))).done?.()
  await at(5_000)
  const { until } = (await b.ask(push('b2', 5_000))) as { until: number }
  await at(WINDOW_MS - 1)
  expect(await b.ask(push('b2', 5_000), true)).toEqual(end(0))
  await at(until - START)
  expect(await b.ask(push('b2', 5_000), true)).toMatchObject({ verdict: 'first' })
})

it('is not delivered after a newer one of its own window', async () => {
  first(await a.ask(push('a1', 0))).done?.()
  await at(200_000)
  expect(await a.ask(push('a2', 200_000))).toEqual(end(0))
  await at(WINDOW_MS)
  first(await a.ask(push('a3', WINDOW_MS))).done?.()
  expect(await a.ask(push('a2', 200_000), true)).toEqual(duplicate('a3'))
})

it('takes what pi-loops has evaluated for the same push', async () => {
  place.write({ [place.key('key')]: { at: START + 5, traceId: 'theirs', policy: 'latest_replaces' } })
  await at(20)
  expect(await a.ask(push('a1', 3))).toEqual(duplicate('theirs'))
  expect(await a.ask(push('a2', 20))).toEqual(end(5))
})
