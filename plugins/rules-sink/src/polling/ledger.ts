import { join } from 'node:path'
import type { Files } from '@tapline/core'
import { reasonOf, type Troubles } from '../troubles.ts'

/** When each project's rules were last checked, by whichever process. */
export interface PollLedger {
  /** Whether a check is due; if it is, it counts as made now, for all processes. */
  claim(slot: string, intervalMs: number): Promise<boolean>
  /** The last check of any of these slots, in milliseconds since the epoch. */
  lastOf(isOurs: (slot: string) => boolean): number | undefined
}

type Stamps = Readonly<Record<string, unknown>>

const LEDGER = 'the ledger of periodic checks'
const KEPT_MS = 24 * 60 * 60_000

/** `<loops dir>/polls.json`: slot → milliseconds since the epoch. Times that lie in the future count for nothing. */
export function openPolls(
  place: { readonly files: Files; readonly loopsDir: string },
  troubles: Troubles,
): PollLedger {
  const path = join(place.loopsDir, 'polls.json')
  const file = place.files.json<Stamps>({
    path,
    empty: () => ({}),
    accepts: (content): content is Stamps =>
      typeof content === 'object' && content !== null && !Array.isArray(content),
    onSetAside: (_path, keptAs) => troubles.happened(`${path} could not be used and is now ${keptAs}.`),
  })
  return {
    claim: async (slot, intervalMs) => {
      const isDue = (stamps: Stamps): boolean => {
        const last = Object.hasOwn(stamps, slot) ? stamps[slot] : undefined
        const age = typeof last === 'number' ? Date.now() - last : Number.NaN
        return !(age >= 0 && age < intervalMs)
      }
      try {
        // Most asks find that it is not: they need no lock.
        if (!isDue(file.read())) {
          troubles.works(LEDGER)
          return false
        }
        let due = false
        await file.update((stamps) => {
          due = isDue(stamps)
          if (!due) return stamps
          const now = Date.now()
          const kept = Object.entries(stamps).filter(([, at]) => {
            const age = typeof at === 'number' ? now - at : Number.NaN
            return age >= 0 && age < Math.max(KEPT_MS, intervalMs)
          })
          return { ...Object.fromEntries(kept), [slot]: now }
        })
        troubles.works(LEDGER)
        return due
      } catch (thrown) {
        // Without the ledger every process would check at every tick: better none does.
        troubles.fails(LEDGER, `${path} cannot be used, so no periodic check is made: ${reasonOf(thrown)}`)
        return false
      }
    },
    lastOf: (isOurs) => {
      try {
        const now = Date.now()
        const times = Object.entries(file.read()).flatMap(([slot, at]) =>
          typeof at === 'number' && at <= now && isOurs(slot) ? [at] : [],
        )
        return times.length === 0 ? undefined : Math.max(...times)
      } catch {
        return undefined
      }
    },
  }
}
