import { join } from 'node:path'
import type { Files } from '@tapline/core'
import { localDay } from '../stamps.ts'
import { reasonOf, type Troubles } from '../troubles.ts'

/** What was spent on this machine, by local day, in US dollars. */
export interface Spending {
  readonly capUsd: number
  /** Today, by all processes. */
  spentUsd(): number
  /** Whether today's budget is spent; never without one. */
  isOver(): boolean
  /** Counts at once here, and in the file soon. */
  record(usd: number): void
  /** Resolves when everything recorded is written, or cannot be. */
  flush(): Promise<void>
}

type Ledger = Readonly<Record<string, unknown>>

const [READING, WRITING] = ['reading what was spent', 'writing what was spent']
const KEPT_DAYS = 7
const DAY_MS = 24 * 60 * 60_000

/** `<loops dir>/spend.json`: `{ "2026-11-30": 1.23 }`, kept for a week. `capUsd` 0 means no budget. */
export function openSpending(
  place: { readonly files: Files; readonly loopsDir: string },
  capUsd: number,
  troubles: Troubles,
): Spending {
  const path = join(place.loopsDir, 'spend.json')
  const file = place.files.json<Ledger>({
    path,
    empty: () => ({}),
    accepts: (content): content is Ledger =>
      typeof content === 'object' && content !== null && !Array.isArray(content),
    onSetAside: (_path, keptAs) => troubles.happened(`${path} could not be used and is now ${keptAs}.`),
  })
  /** Not yet in the file, by day. */
  let unwritten = new Map<string, number>()
  let writing: Promise<void> | undefined
  const written = (day: string): number => {
    try {
      const usd = amountOf(file.read(), day)
      troubles.works(READING)
      return usd
    } catch (thrown) {
      troubles.fails(READING, `${path} cannot be read: ${reasonOf(thrown)}`)
      return 0
    }
  }
  const write = async (): Promise<void> => {
    const added = unwritten
    try {
      await file.update((ledger) => {
        // Moved within one step: what counts is in the file or here, never in both.
        unwritten = new Map()
        return withAdded(ledger, added)
      })
    } catch (thrown) {
      if (unwritten !== added) for (const [day, usd] of unwritten) added.set(day, (added.get(day) ?? 0) + usd)
      unwritten = added
      troubles.fails(WRITING, `${path} cannot be written: ${reasonOf(thrown)}`)
      return
    }
    troubles.works(WRITING)
    if (unwritten.size > 0) await write()
  }
  const spentUsd = (): number => {
    const today = localDay(Date.now())
    return written(today) + (unwritten.get(today) ?? 0)
  }
  return {
    capUsd,
    spentUsd,
    isOver: () => capUsd > 0 && spentUsd() >= capUsd,
    record: (usd) => {
      if (!(usd > 0) || !Number.isFinite(usd)) return
      const today = localDay(Date.now())
      unwritten.set(today, (unwritten.get(today) ?? 0) + usd)
      writing ??= Promise.resolve()
        .then(write)
        .finally(() => (writing = undefined))
    },
    flush: () => writing ?? Promise.resolve(),
  }
}

function withAdded(ledger: Ledger, added: ReadonlyMap<string, number>): Ledger {
  const oldest = localDay(Date.now() - KEPT_DAYS * DAY_MS)
  // A day that has not come yet was written by a clock that was wrong: it would count when it comes.
  const newest = localDay(Date.now() + DAY_MS)
  const kept = Object.entries(ledger).filter(([day]) => day >= oldest && day <= newest)
  const next: Record<string, unknown> = Object.fromEntries(kept)
  for (const [day, usd] of added) next[day] = amountOf(next, day) + usd
  return next
}

function amountOf(ledger: Ledger, day: string): number {
  const usd = Object.hasOwn(ledger, day) ? ledger[day] : 0
  return typeof usd === 'number' && Number.isFinite(usd) && usd > 0 ? usd : 0
}
