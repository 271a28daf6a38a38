import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  createPlace,
  type FilesInTurn,
  filesInTurn,
  first,
  openSession,
  type Session,
  trigger,
} from './place.ts'

const WINDOW_MS = 300_000
const HOUR_MS = 3_600_000

let turns: FilesInTurn

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1_750_000_000_000 })
  turns = filesInTurn()
})
afterEach(() => void vi.useRealTimers())

/** Time passes. */
async function pass(ms: number): Promise<void> {
  await turns.quiet()
  vi.advanceTimersByTime(ms)
}

/** The clock is set by so much. */
async function set(ms: number): Promise<void> {
  await turns.quiet()
  vi.setSystemTime(Date.now() + ms)
}

it('is measured from the first arrival and does not slide', async () => {
  const window = await openSession(createPlace(), {}, turns)
  expect(await window.deliver('1')).toBe('first')
  for (const ms of [100_000, 100_000, 99_999]) {
    await pass(ms)
    expect(await window.ask(trigger('again'))).toEqual({ verdict: 'duplicate', of: '1' })
  }
  await pass(1)
  expect(await window.deliver('2')).toBe('first')
})

it('has the length that the claim says, in every session', async () => {
  const place = createPlace()
  const [short, long] = [
    await openSession(place, { windowMs: 60_000 }, turns),
    await openSession(place, { windowMs: 2 * HOUR_MS }, turns),
  ]
  expect(await short.deliver('1', { key: 'short' })).toBe('first')
  expect(await long.deliver('2', { key: 'long' })).toBe('first')
  await pass(59_999)
  expect(await long.deliver('3', { key: 'short' })).toBe('duplicate')
  await pass(1)
  expect(await long.deliver('4', { key: 'short' })).toBe('first')
  await pass(HOUR_MS)
  expect(await short.deliver('5', { key: 'long' })).toBe('duplicate')
  await pass(HOUR_MS)
  expect(await short.deliver('6', { key: 'long' })).toBe('first')
})

it('is a day long at most', async () => {
  const place = createPlace()
  const window = await openSession(place, { windowMs: Infinity }, turns)
  expect(await window.deliver('1')).toBe('first')
  await pass(24 * HOUR_MS - 1)
  expect(await (await openSession(place, {}, turns)).deliver('2')).toBe('duplicate')
  await pass(1)
  expect(await window.deliver('3')).toBe('first')
})

it('goes with a clock that is set back, in all sessions that know the claim', async () => {
  const place = createPlace()
  const [a, b] = [await openSession(place, {}, turns), await openSession(place, {}, turns)]
  expect(await a.deliver('1')).toBe('first')
  expect(await b.deliver('2')).toBe('duplicate')
  await set(-HOUR_MS)
  expect(await b.deliver('3')).toBe('duplicate')
  // Written anew, so that a session that comes now is not misled.
  await turns.quiet()
  expect(place.read()[place.key('key')]?.at).toBe(Date.now())
  const late = await openSession(place, {}, turns)
  expect(await late.deliver('4')).toBe('duplicate')
  await pass(WINDOW_MS)
  expect(await a.deliver('5')).toBe('first')
})

it('ends early when the clock is set forward: an event is delivered twice rather than lost', async () => {
  const window = await openSession(createPlace(), {}, turns)
  expect(await window.deliver('1')).toBe('first')
  await set(HOUR_MS)
  expect(await window.deliver('2')).toBe('first')
  await set(-HOUR_MS)
  expect(await window.deliver('3')).toBe('duplicate')
  await pass(WINDOW_MS)
  expect(await window.deliver('4')).toBe('first')
})

it('is not blocked by a claim from the future', async () => {
  const place = createPlace()
  place.write({
    [place.key('far')]: { at: Date.now() + 60_001, traceId: 'far', policy: 'drop' },
    [place.key('near')]: { at: Date.now() + 60_000, traceId: 'near', policy: 'drop' },
  })
  const window = await openSession(place, {}, turns)
  expect(await window.deliver('1', { key: 'far' })).toBe('first')
  expect(await window.deliver('2', { key: 'near' })).toBe('duplicate')
})

type Outcome = 'done' | 'failed' | 'left'

const step = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  waitMs: fc.constantFrom(0, 1, 1_000, 100_000, WINDOW_MS - 1, WINDOW_MS),
  setMs: fc.constantFrom(0, 0, 0, -2 * HOUR_MS, -61_000, -5_000, 10_000, WINDOW_MS, HOUR_MS),
  outcome: fc.constantFrom<Outcome>('done', 'done', 'failed', 'left'),
  restarts: fc.constantFrom(false, false, false, true),
})

it('does what the plainest window does, whatever the clock does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const place = createPlace()
      let window = await openSession(place, {}, turns)
      const plain = new Map<string, { at: number; traceId: string; outcome: Outcome }>()
      // Clocks that are set back are not followed, those that are set forward are.
      let time = 0
      for (const [index, { key, waitMs, setMs, outcome, restarts }] of steps.entries()) {
        if (restarts) {
          await window.dispose()
          window = await openSession(place, {}, turns)
          for (const [claimed, claim] of plain) if (claim.outcome === 'left') plain.delete(claimed)
          // It knows the claims once it has read the file.
          await window.ask(trigger(`${index} looks`, { key: `other ${index}` }))
        }
        await pass(waitMs)
        await set(setMs)
        time += waitMs + Math.max(0, setMs)
        const earlier = plain.get(key)
        const isOpen = earlier !== undefined && time - earlier.at < WINDOW_MS
        const verdict = await window.ask(trigger(`${index}`, { key }))
        expect(verdict).toMatchObject(
          isOpen ? { verdict: 'duplicate', of: earlier.traceId } : { verdict: 'first' },
        )
        if (isOpen) continue
        plain.set(key, { at: time, traceId: `${index}`, outcome })
        if (outcome === 'done') first(verdict).done?.()
        if (outcome !== 'failed') continue
        first(verdict).failed?.()
        plain.delete(key)
      }
      expect(window.warnings).toEqual([])
      await window.dispose()
    }),
    { numRuns: 100 },
  )
})

const move = fc.record({
  session: fc.constantFrom(0, 1, 2),
  key: fc.constantFrom('a', 'b'),
  waitMs: fc.constantFrom(0, 0, 1, 1_000, 150_000),
  does: fc.constantFrom('ask', 'ask', 'ask', 'done', 'failed', 'restart'),
})

it('does so in three sessions of one project', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
      const place = createPlace()
      const open = (): Promise<Session> => openSession(place, {}, turns)
      const sessions = [await open(), await open(), await open()]
      interface Claim {
        at: number
        traceId: string
        session: number
        pending: ReturnType<typeof first> | undefined
      }
      const plain = new Map<string, Claim>()
      for (const [index, { session, key, waitMs, does }] of moves.entries()) {
        await pass(waitMs)
        let claim = plain.get(key)
        if (claim && Date.now() - claim.at >= WINDOW_MS) {
          plain.delete(key)
          claim = undefined
        }
        if (does === 'restart') {
          await sessions[session]?.dispose()
          sessions[session] = await open()
          for (const [claimed, one] of plain)
            if (one.session === session && one.pending) plain.delete(claimed)
          continue
        }
        if (does !== 'ask') {
          claim?.pending?.[does]?.()
          if (claim?.pending && does === 'failed') plain.delete(key)
          if (claim) claim.pending = undefined
          continue
        }
        const traceId = `${index}`
        const verdict = await sessions[session]?.ask(trigger(traceId, { key }))
        const waits = claim?.pending !== undefined && claim.session !== session
        const repeated = waits
          ? { verdict: 'later', until: Date.now() + 1_000, of: claim?.traceId }
          : { verdict: 'duplicate', of: claim?.traceId }
        expect(verdict).toMatchObject(claim ? repeated : { verdict: 'first' })
        if (!claim) plain.set(key, { at: Date.now(), traceId, session, pending: first(verdict) })
      }
      for (const session of sessions) {
        expect(session.warnings).toEqual([])
        await session.dispose()
      }
    }),
    { numRuns: 100 },
  )
})
